//! Groups of emulated devices in one process, and the messages between them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nwp_mini::device::driver::{Outcome, Refusal, Shipment};

use super::memory::{Memory, pointer};

/// Longest time that a device waits for another one.
const PATIENCE: Duration = Duration::from_mins(2);

/// Messages on their way, by sender and receiver, in the order of sending.
type Mail = BTreeMap<[usize; 2], VecDeque<Vec<u8>>>;

/// Devices that exchange messages.
#[derive(Debug, Default)]
struct Group {
    mail: Mutex<Mail>,
    arrived: Condvar,
}

impl Group {
    fn mail(&self) -> MutexGuard<'_, Mail> {
        self.mail.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The groups of this process by their tokens.
static GROUPS: LazyLock<Mutex<BTreeMap<Vec<u8>, Arc<Group>>>> = LazyLock::new(Mutex::default);

/// A token for a new group.
pub(super) fn token() -> Vec<u8> {
    let mut groups = GROUPS.lock().unwrap_or_else(PoisonError::into_inner);
    let token = groups.len().to_ne_bytes().to_vec();
    groups.insert(token.clone(), Arc::default());
    token
}

/// A device's place in a group.
#[derive(Clone, Debug)]
pub(super) struct Place {
    group: Arc<Group>,
    number: usize,
}

impl Place {
    /// The place of a number in the group of a token.
    pub(super) fn of(token: &[u8], number: usize) -> Outcome<Self> {
        let groups = GROUPS.lock().unwrap_or_else(PoisonError::into_inner);
        let group = groups.get(token).cloned();
        let group = group.ok_or_else(|| Refusal("no group has this token".to_owned()))?;
        Ok(Self { group, number })
    }

    /// Exchanges messages; waits for those of other devices.
    pub(super) fn exchange(&self, messages: &[Vec<Shipment>; 2], memory: &Memory) -> Outcome<()> {
        let [sent, received] = messages;
        for &Shipment { peer, address, bytes } in sent {
            memory.check_range(address, bytes)?;
            // SAFETY: the range is inside an array, and nothing writes to it now.
            let message = unsafe { std::slice::from_raw_parts(pointer::<u8>(address), bytes) };
            let mut mail = self.group.mail();
            mail.entry([self.number, peer]).or_default().push_back(message.to_vec());
            self.group.arrived.notify_all();
        }
        for &Shipment { peer, address, bytes } in received {
            memory.check_range(address, bytes)?;
            let way = [peer, self.number];
            let is_missing = |mail: &mut Mail| mail.get(&way).is_none_or(VecDeque::is_empty);
            let waited =
                self.group.arrived.wait_timeout_while(self.group.mail(), PATIENCE, is_missing);
            let (mut mail, _) = waited.unwrap_or_else(PoisonError::into_inner);
            let message = mail.get_mut(&way).and_then(VecDeque::pop_front);
            let message = message.filter(|message| message.len() == bytes).ok_or_else(|| {
                Refusal(format!("no message of {bytes} bytes from device {peer} of the group"))
            })?;
            // SAFETY: the range is inside an array that nothing else uses now.
            unsafe { pointer::<u8>(address).copy_from(message.as_ptr(), bytes) };
        }
        Ok(())
    }
}
