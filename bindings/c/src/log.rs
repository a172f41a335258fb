//! Messages of the library for a host that wants them.

use std::ffi::{CString, c_char, c_void};
use std::fmt::{Debug, Write};
use std::sync::{Once, PoisonError, RwLock};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber};

/// A function that takes messages: the level (1 for an error, 2 a warning, 3 information, 4 details), the text, which it
/// copies if it keeps it, and the pointer that was given with the function. It may be called from any thread.
pub type LogCallback =
    Option<unsafe extern "C" fn(level: i32, text: *const c_char, user: *mut c_void)>;

/// The function of the host.
#[derive(Clone, Copy)]
struct Receiver {
    call: unsafe extern "C" fn(i32, *const c_char, *mut c_void),
    user: *mut c_void,
    most: i32,
}

// SAFETY: the pointer is only handed back; that the function may be called from any thread is said in the header.
unsafe impl Send for Receiver {}
// SAFETY: as above.
unsafe impl Sync for Receiver {}

static RECEIVER: RwLock<Option<Receiver>> = RwLock::new(None);

/// Sends messages up to a level to a function of the host; NULL ends that. Without it the library writes nothing.
///
/// @param most the most detailed level: 1 errors, 2 warnings, 3 information, 4 details, times on a GPU among them
/// @param callback the function, or NULL
/// @param user a pointer that the function gets back
#[unsafe(no_mangle)]
pub extern "C" fn nwp_mini_log(most: i32, callback: LogCallback, user: *mut c_void) {
    static INSTALLED: Once = Once::new();
    let receiver = callback.map(|call| Receiver { call, user, most });
    *RECEIVER.write().unwrap_or_else(PoisonError::into_inner) = receiver;
    INSTALLED.call_once(|| {
        let _ = tracing::subscriber::set_global_default(ToHost);
    });
}

fn receiver(level: Level) -> Option<Receiver> {
    let receiver = *RECEIVER.read().unwrap_or_else(PoisonError::into_inner);
    receiver.filter(|receiver| number(level) <= receiver.most)
}

fn number(level: Level) -> i32 {
    match level {
        Level::ERROR => 1,
        Level::WARN => 2,
        Level::INFO => 3,
        Level::DEBUG => 4,
        Level::TRACE => 5,
    }
}

/// The receiver of all messages of the library.
struct ToHost;

/// Text of a message with its values.
#[derive(Default)]
struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let written = match field.name() {
            "message" => write!(self.0, "{value:?}"),
            name => write!(self.0, " {name}={value:?}"),
        };
        written.expect("a String takes any text");
    }
}

impl Subscriber for ToHost {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        // The host may ask for another level at any time.
        Interest::sometimes()
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        // Events, and the question whether there would be one.
        !metadata.is_span() && receiver(*metadata.level()).is_some()
    }

    fn event(&self, event: &Event<'_>) {
        let level = *event.metadata().level();
        let Some(Receiver { call, user, .. }) = receiver(level) else { return };
        let mut text = Text::default();
        event.record(&mut text);
        let text = CString::new(text.0.replace('\0', " ")).unwrap_or_default();
        // SAFETY: a function of this type, as the host promises, with its own pointer.
        unsafe { call(number(level), text.as_ptr(), user) };
    }

    // Spans carry nothing that messages need.
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;
    use std::sync::Mutex;

    use super::*;

    unsafe extern "C" fn take(level: i32, text: *const c_char, user: *mut c_void) {
        // SAFETY: the test gave a list, and the text ends in zero.
        let (seen, text) = unsafe { (&*user.cast::<Mutex<Vec<String>>>(), CStr::from_ptr(text)) };
        seen.lock().expect("no panic").push(format!("{level} {}", text.to_str().expect("UTF-8")));
    }

    /// Levels change from call to call, and so does what is found to be wanted.
    #[test]
    fn messages_come_up_to_the_level_that_is_asked_for() {
        let seen: Mutex<Vec<String>> = Mutex::default();
        let mut wanted = Vec::new();
        for most in [1, 4, 3] {
            nwp_mini_log(most, Some(take), (&raw const seen).cast_mut().cast());
            wanted.push(tracing::enabled!(Level::DEBUG));
            tracing::debug!(n = most, "details");
            tracing::error!("bad");
        }
        nwp_mini_log(0, None, std::ptr::null_mut());
        tracing::error!("unheard");
        assert_eq!(wanted, [false, true, false]);
        assert_eq!(
            seen.into_inner().expect("no panic"),
            ["1 bad", "4 details n=4", "1 bad", "1 bad"]
        );
    }
}
