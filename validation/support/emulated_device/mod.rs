//! The emulated device: a driver below the device layer that runs the kernels on the host.
//!
//! The kernels are the text that NVRTC compiles, compiled for the host (`module`); their threads are fibres
//! (`runtime.cpp`). Arrays lie between fences and hold NaN at first (`memory`). Nothing happens before the host waits
//! for it; then streams and nodes of graphs go on in any order that events and edges allow (`work`), and a launch that
//! waits for preceding work by itself starts before it. So work that forgets to wait for other work gives other results.

#![allow(unsafe_code, reason = "a driver works on addresses, and the kernels are C++")]

mod fault;
mod group;
mod memory;
mod module;
mod state;
mod work;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nwp_mini::device::driver::{
    Address, Code, CompilerFacts, Driver, Handle, Outcome, Refusal, Shipment, Transfer, Usage,
};
use nwp_mini::device::{Architecture, Device, KernelSource, Launch, Options};
use nwp_mini::error::Result;

use fault::Faults;
use group::Place;
use memory::{Memory, TOTAL};
use module::{DYNAMIC_SHARED_BYTES, Module};
use state::State;
use work::{Capture, Dice, Goal, Launched, Mark, Queues, Work};

/// Name of the device.
pub const NAME: &str = "emulated device";

/// An emulated device.
#[derive(Debug)]
pub struct Emulated {
    device: Device,
    state: Mutex<State>,
}

thread_local! {
    /// `true` if the next wait of this thread for a stream is to be forgotten.
    static FORGETS: Cell<bool> = const { Cell::new(false) };
}

/// Lets the next wait of this thread for a stream return at once, as if the caller had forgotten it.
pub fn forget_a_wait() {
    FORGETS.set(true);
}

/// Opens an emulated device; NWP_MINI_SEED decides the order of its work.
///
/// # Errors
///
/// None: the kernels are compiled later.
pub fn open(_: &Options) -> Result<Arc<dyn Driver>> {
    let seed = std::env::var("NWP_MINI_SEED").ok().and_then(|text| text.parse().ok());
    let device = Device {
        name: NAME.to_owned(),
        architecture: Architecture(90),
        // Few, so that small grids fill it as large ones fill a GPU.
        multiprocessors: 4,
        shared_bytes: DYNAMIC_SHARED_BYTES as u32,
        memory: TOTAL,
        cache: 1 << 20,
    };
    let queues = Queues {
        streams: BTreeMap::new(),
        pending: std::collections::BTreeSet::new(),
        reached: BTreeMap::new(),
        dice: Dice(seed.unwrap_or(1)),
    };
    let state = State {
        memory: Memory::default(),
        queues,
        events: BTreeMap::new(),
        graphs: BTreeMap::new(),
        groups: BTreeMap::new(),
        modules: BTreeMap::new(),
        functions: BTreeMap::new(),
        capture: None,
        held: BTreeMap::new(),
        failure: None,
        faults: Faults::from_environment(),
        last: 0,
    };
    Ok(Arc::new(Emulated { device, state: Mutex::new(state) }))
}

impl Emulated {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn refuse<T>(why: impl Into<String>) -> Outcome<T> {
    Err(Refusal(why.into()))
}

impl Driver for Emulated {
    fn device(&self) -> &Device {
        &self.device
    }

    fn compiler(&self) -> CompilerFacts {
        CompilerFacts {
            name: "c++",
            version: "for the emulated device".to_owned(),
            fast_math: false,
            options: Vec::new(),
        }
    }

    fn code(&self, source: &KernelSource) -> Result<Code> {
        module::compile(source).map(|path| Code::Binary(path.as_os_str().as_bytes().to_vec()))
    }

    fn memory(&self) -> Outcome<[usize; 2]> {
        let state = self.state();
        state.check()?;
        Ok([state.memory.free_bytes(), TOTAL])
    }

    fn allocate(&self, bytes: usize) -> Outcome<Address> {
        let mut state = self.state();
        state.check()?;
        state.memory.allocate(bytes, 0xff)
    }

    unsafe fn free(&self, address: Address) {
        let mut state = self.state();
        // As CUDA does. After a failure nothing runs any more.
        let _ = state.run_until(Goal::Everything);
        state.memory.free(address);
    }

    fn pin(&self, bytes: usize) -> Outcome<Address> {
        let mut state = self.state();
        state.check()?;
        state.memory.allocate(bytes, 0)
    }

    unsafe fn unpin(&self, address: Address) {
        // SAFETY: as promised by the caller.
        unsafe { self.free(address) };
    }

    unsafe fn fill(
        &self,
        stream: Handle,
        address: Address,
        value: u8,
        bytes: usize,
    ) -> Outcome<()> {
        self.state().queue(stream, Work::Fill { address, value, bytes })
    }

    unsafe fn copy(&self, stream: Handle, copy: Transfer) -> Outcome<()> {
        let mut state = self.state();
        if state.faults.drops_copy() {
            return state.check();
        }
        state.queue(stream, Work::Copy(copy))
    }

    fn stream(&self, _is_preferred: bool) -> Outcome<Handle> {
        let mut state = self.state();
        let stream = state.next();
        state.queues.streams.insert(stream, std::collections::VecDeque::new());
        Ok(stream)
    }

    fn end_stream(&self, stream: Handle) {
        let mut state = self.state();
        let _ = state.run_until(Goal::Stream(stream));
        state.queues.streams.remove(&stream);
    }

    fn finish(&self, stream: Handle) -> Outcome<()> {
        if FORGETS.replace(false) {
            return self.state().check();
        }
        self.state().run_until(Goal::Stream(stream))
    }

    fn event(&self, _has_timing: bool) -> Outcome<Handle> {
        let mut state = self.state();
        let event = state.next();
        state.events.insert(event, None);
        Ok(event)
    }

    fn end_event(&self, event: Handle) {
        let mut state = self.state();
        state.events.remove(&event);
        state.queues.reached.remove(&event);
    }

    fn record(&self, event: Handle, stream: Handle, in_graph: bool) -> Outcome<()> {
        let mut state = self.state();
        if let Some(capture) = &mut state.capture
            && let Some(before) = capture.ends.get(&stream)
        {
            if in_graph {
                capture.push(stream, Work::Record(event, 0));
            } else {
                let before = before.clone();
                capture.events.insert(event, before);
            }
            return Ok(());
        }
        let mark = state.next();
        state.queue(stream, Work::Record(event, mark))?;
        state.queues.pending.insert(mark);
        state.events.insert(event, Some(mark));
        Ok(())
    }

    fn hold(&self, stream: Handle, event: Handle) -> Outcome<()> {
        let mut state = self.state();
        if state.is_needed(stream, event) {
            // Waits for one stream after each other are one: the last of them would do.
            let from = state.events[&event].and_then(|mark| state.queues.recording(mark));
            let is_joined = from.is_some_and(|from| state.held.get(&stream) == Some(&from));
            state.held.extend(from.map(|from| (stream, from)));
            if state.faults.drops_wait(is_joined) {
                return state.check();
            }
        }
        if let Some(capture) = &mut state.capture {
            if let Some(before) = capture.events.get(&event) {
                let ends = capture.ends.entry(stream).or_default();
                for node in before {
                    if !ends.contains(node) {
                        ends.push(*node);
                    }
                }
                return Ok(());
            }
            if capture.ends.contains_key(&stream) {
                return refuse(
                    "CUDA_ERROR_STREAM_CAPTURE_ISOLATION (a captured stream waits for one that is not)",
                );
            }
        }
        match state.events[&event] {
            Some(mark) => state.queue(stream, Work::Wait(mark)),
            None => state.check(),
        }
    }

    fn wait(&self, event: Handle) -> Outcome<()> {
        let mut state = self.state();
        match state.events[&event] {
            Some(mark) => state.run_until(Goal::Mark(mark)),
            None => state.check(),
        }
    }

    fn is_reached(&self, event: Handle) -> Outcome<bool> {
        let mut state = self.state();
        state.check()?;
        let Some(mark) = state.events[&event] else { return Ok(true) };
        // A device goes on by itself; here it does so when it is asked, and not every time.
        if state.queues.dice.roll().is_multiple_of(2) {
            state.run_until(Goal::Mark(mark))?;
        }
        Ok(!state.queues.pending.contains(&mark))
    }

    fn seconds(&self, start: Handle, end: Handle) -> Outcome<f64> {
        let state = self.state();
        match [start, end].map(|event| state.queues.reached.get(&event)) {
            [Some(start), Some(end)] => {
                Ok(end.saturating_duration_since(*start).as_secs_f64().max(1e-9))
            }
            _ => refuse("CUDA_ERROR_NOT_READY (an event was not reached)"),
        }
    }

    fn begin_capture(&self, stream: Handle) -> Outcome<()> {
        let mut state = self.state();
        state.check()?;
        if state.capture.is_some() {
            return refuse("CUDA_ERROR_ILLEGAL_STATE (a capture is under way)");
        }
        state.capture = Some(Capture::new(stream));
        Ok(())
    }

    fn end_capture(&self, _stream: Handle) -> Outcome<Option<Handle>> {
        let mut state = self.state();
        let capture = state.capture.take().expect("a capture under way");
        let Some(graph) = capture.finish()? else { return Ok(None) };
        let handle = state.next();
        state.graphs.insert(handle, Arc::new(graph));
        Ok(Some(handle))
    }

    fn replay(&self, stream: Handle, graph: Handle) -> Outcome<()> {
        let mut state = self.state();
        let graph = state.graphs[&graph].clone();
        let events: Vec<Handle> = graph.events().collect();
        let marks: Vec<Mark> = events.iter().map(|_| state.next()).collect();
        state.queue(stream, Work::Replay(graph, marks.clone()))?;
        for (event, mark) in events.into_iter().zip(marks) {
            state.queues.pending.insert(mark);
            state.events.insert(event, Some(mark));
        }
        Ok(())
    }

    fn end_graph(&self, graph: Handle) {
        self.state().graphs.remove(&graph);
    }

    fn load(&self, code: &Code) -> Outcome<Handle> {
        let (Code::Binary(path) | Code::Ptx(path)) = code;
        let module = Module::load(path).map_err(Refusal)?;
        let mut state = self.state();
        let handle = state.next();
        state.modules.insert(handle, module);
        Ok(handle)
    }

    fn unload(&self, module: Handle) {
        let mut state = self.state();
        // Queued launches are functions of the module.
        let _ = state.run_until(Goal::Everything);
        state.modules.remove(&module);
    }

    fn function(&self, module: Handle, name: &str) -> Outcome<Handle> {
        let mut state = self.state();
        let found = state.modules[&module].function(name).map_err(Refusal)?;
        let handle = state.next();
        state.functions.insert(handle, found);
        Ok(handle)
    }

    fn usage(&self, _function: Handle) -> Outcome<Usage> {
        Ok(Usage { registers: 32, local_bytes: 0, shared_bytes: 0 })
    }

    fn blocks_at_a_time(&self, _function: Handle, threads: u32, shared_bytes: u32) -> Outcome<u32> {
        /// Threads of a multiprocessor, and blocks.
        const MOST: [u32; 2] = [2048, 32];
        let by_memory = self.device.shared_bytes / shared_bytes.max(1);
        Ok((MOST[0] / threads.max(1)).min(by_memory).min(MOST[1]))
    }

    fn allow_shared_memory(&self, function: Handle, bytes: u32) -> Outcome<()> {
        if bytes as usize > DYNAMIC_SHARED_BYTES {
            return refuse("CUDA_ERROR_INVALID_VALUE (more shared memory than a block can have)");
        }
        self.state().functions.get_mut(&function).expect("a function").allowed_bytes = bytes;
        Ok(())
    }

    fn prefer_shared_memory(&self, _function: Handle, _percent: u32) -> Outcome<()> {
        Ok(())
    }

    unsafe fn launch(
        &self,
        stream: Handle,
        function: Handle,
        launch: Launch,
        waits: bool,
        arguments: &[u8],
    ) -> Outcome<()> {
        /// Most threads of a block, and blocks in y and z.
        const MOST: [u64; 2] = [1024, 65_535];
        let mut state = self.state();
        let function = state.functions[&function].clone();
        let name = &function.name;
        if function.bytes != arguments.len() {
            let (took, gave) = (function.bytes, arguments.len());
            return refuse(format!("{name} takes {took} bytes of arguments, not {gave}"));
        }
        let count = |extents: [u32; 3]| extents.iter().map(|&n| u64::from(n)).product::<u64>();
        let is_possible = (1..=MOST[0]).contains(&count(launch.block))
            && count(launch.grid) > 0
            && u64::from(launch.grid[1].max(launch.grid[2])) <= MOST[1]
            && launch.shared_bytes <= function.allowed_bytes;
        if !is_possible {
            return refuse(format!(
                "CUDA_ERROR_INVALID_VALUE ({name} cannot be launched by {launch:?})"
            ));
        }
        let mut words = vec![0_u64; arguments.len().div_ceil(size_of::<u64>())];
        for (word, bytes) in words.iter_mut().zip(arguments.chunks(size_of::<u64>())) {
            let mut whole = [0; size_of::<u64>()];
            whole[..bytes.len()].copy_from_slice(bytes);
            *word = u64::from_ne_bytes(whole);
        }
        let State { faults, memory, .. } = &mut *state;
        let launch =
            faults.launch(name, launch, &mut words, |word| memory.array_at(word).is_some());
        let forgets = waits && faults.drops_preceding(name);
        let work = Launched { function, launch, waits, forgets, arguments: words };
        state.queue(stream, Work::Launch(Arc::new(work)))
    }

    fn group_carrier(&self) -> Outcome<String> {
        Ok("emulated devices of one process".to_owned())
    }

    fn group_token(&self) -> Outcome<Vec<u8>> {
        Ok(group::token())
    }

    fn join(&self, token: &[u8], [number, _]: [usize; 2]) -> Outcome<Handle> {
        let place = Place::of(token, number)?;
        let mut state = self.state();
        let handle = state.next();
        state.groups.insert(handle, place);
        Ok(handle)
    }

    fn leave(&self, group: Handle) {
        let mut state = self.state();
        let _ = state.run_until(Goal::Everything);
        state.groups.remove(&group);
    }

    unsafe fn exchange(
        &self,
        stream: Handle,
        group: Handle,
        messages: [&[Shipment]; 2],
    ) -> Outcome<()> {
        let mut state = self.state();
        let place = state.groups[&group].clone();
        state.queue(stream, Work::Exchange(Arc::new((place, messages.map(<[_]>::to_vec)))))
    }
}
