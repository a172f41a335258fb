//! Options as a text: pairs of a name and a value.

use std::str::FromStr;

#[cfg(feature = "gpu")]
use crate::device;
#[cfg(feature = "gpu")]
use crate::device::tuning::IsPossible;
use crate::error::{Error, Result};
#[cfg(feature = "gpu")]
use crate::gpu::tuning::Knob;
use crate::physics::registry;
use crate::physics::scheme::{Parameter, Scheme};

/// Processor to compute on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Backend {
    Cpu,
    Gpu,
    Auto,
}

/// The device layer's options.
#[cfg(feature = "gpu")]
pub(super) type DeviceOptions = device::Options;
/// There are none without it.
#[cfg(not(feature = "gpu"))]
#[derive(Debug)]
pub(super) struct DeviceOptions;

/// Options of the microphysics inside another model.
#[derive(Debug)]
pub(super) struct Options {
    pub(super) scheme: Box<dyn Scheme>,
    pub(super) backend: Backend,
    /// Threads, if there are several.
    pub(super) pool: Option<rayon::ThreadPool>,
    pub(super) device: DeviceOptions,
}

/// Names of the options besides the parameters of a scheme and its own name of `variant`.
const NAMES: [&str; 8] =
    ["physics", "variant", "backend", "threads", "device", "nvrtc-lib", "fast-math", "tuning"];

/// Most threads.
const MOST_THREADS: usize = 4096;

/// The pairs of a text.
pub(super) struct Pairs<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Pairs<'a> {
    pub(super) fn of(text: &'a str) -> Result<Self> {
        let mut pairs: Vec<(&str, &str)> = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let Some((name, value)) = part.split_once('=') else {
                return Err(Error::Usage(format!("option {part:?}; name=value is needed")));
            };
            let (name, value) = (name.trim(), value.trim());
            if pairs.iter().any(|(known, _)| *known == name) {
                return Err(Error::Usage(format!("option {name} is given twice; give it once")));
            }
            pairs.push((name, value));
        }
        Ok(Self(pairs))
    }

    pub(super) fn take(&mut self, name: &str) -> Option<&'a str> {
        let at = self.0.iter().position(|(known, _)| *known == name)?;
        Some(self.0.remove(at).1)
    }

    /// The value of an option, one of several words; `None` if it is not given.
    pub(super) fn one_of<T: Copy>(&mut self, name: &str, words: &[(&str, T)]) -> Result<Option<T>> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let found = words.iter().find(|(word, _)| *word == value);
        let found = found.ok_or_else(|| {
            let all: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            Error::Usage(format!("{name}={value}: the values are {}", all.join(", ")))
        })?;
        Ok(Some(found.1))
    }

    /// A real number within bounds.
    pub(super) fn real(&mut self, name: &str, [least, most]: [f64; 2]) -> Result<Option<f64>> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let number: Option<f64> = value.parse().ok();
        let number = number.filter(|number| (least..=most).contains(number)).ok_or_else(|| {
            Error::Usage(format!("{name}={value}: a number from {least:e} to {most:e} is needed"))
        })?;
        Ok(Some(number))
    }

    /// A pool of threads, if there are to be several: one of the library's own, whose size is not that of the host's.
    pub(super) fn pool(&mut self) -> Result<Option<rayon::ThreadPool>> {
        let threads = self.number("threads", [1, MOST_THREADS])?.unwrap_or(1);
        if threads == 1 {
            return Ok(None);
        }
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|number| format!("nwp-mini {number}"))
            .build()
            .map(Some)
            .map_err(|error| Error::Usage(format!("threads={threads}: {error}")))
    }

    /// Fails if an option is left.
    pub(super) fn refuse_the_rest(&self, title: &str, names: &[&str]) -> Result<()> {
        let Some((name, _)) = self.0.first() else { return Ok(()) };
        let near = names.iter().min_by_key(|known| strsim::damerau_levenshtein(known, name));
        Err(Error::Usage(format!(
            "no option {name} with {title}; the nearest is {}; all are {}",
            near.unwrap_or(&"none"),
            names.join(", ")
        )))
    }

    fn number(&mut self, name: &str, [least, most]: [usize; 2]) -> Result<Option<usize>> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let number = value.parse().ok().filter(|number| (least..=most).contains(number));
        let number = number.ok_or_else(|| {
            Error::Usage(format!("{name}={value}: a whole number from {least} to {most} is needed"))
        })?;
        Ok(Some(number))
    }
}

impl FromStr for Options {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut pairs = Pairs::of(text)?;
        let (key, variant) = (pairs.take("physics"), pairs.take("variant"));
        let usual = registry::make(key.unwrap_or(registry::SCHEMES[0].key), None)?;
        // The name of the program for it.
        let own = usual.about().variant_option;
        let by_program = (!own.is_empty()).then(|| pairs.take(own)).flatten();
        if variant.is_some() && by_program.is_some() {
            let message = format!("options variant and {own} are one; give one of them");
            return Err(Error::Usage(message));
        }
        let variant = variant.or(by_program);
        let mut scheme = registry::make(usual.about().key, variant)?;
        let words = [("cpu", Backend::Cpu), ("gpu", Backend::Gpu), ("auto", Backend::Auto)];
        let backend = pairs.one_of("backend", &words)?.unwrap_or(Backend::Cpu);
        if backend == Backend::Gpu && cfg!(not(feature = "gpu")) {
            let message = "backend=gpu: this library was built without the GPU; use backend=cpu";
            return Err(Error::Usage(message.to_owned()));
        }
        let pool = pairs.pool()?;
        let device = device_options(&mut pairs)?;
        for (name, value) in pairs.0 {
            set(&mut *scheme, name, value)?;
        }
        Ok(Self { scheme, backend, pool, device })
    }
}

/// Options that concern the GPU are legal without one: `backend=auto` may find none.
fn device_options(pairs: &mut Pairs<'_>) -> Result<DeviceOptions> {
    let is_automatic = pairs.0.contains(&("device", "auto"));
    let device = if is_automatic {
        pairs.take("device").map(|_| 0)
    } else {
        pairs.number("device", [0, 255])?
    };
    let library = pairs.take("nvrtc-lib");
    let switch = [("on", true), ("off", false)];
    let fast_math = pairs.one_of("fast-math", &switch)?;
    let tuning = pairs.one_of("tuning", &switch)?;
    #[cfg(feature = "gpu")]
    {
        let usual = device::Options::default();
        Ok(device::Options {
            device: device.unwrap_or(usual.device),
            compiler_library: library
                .map(Into::into)
                .or_else(|| std::env::var_os("NWP_NVRTC").map(Into::into)),
            fast_math: fast_math.unwrap_or(usual.fast_math),
            tuning: tuning.unwrap_or(true).then_some(Knob::is_possible as IsPossible),
            ..usual
        })
    }
    #[cfg(not(feature = "gpu"))]
    {
        let _ = (device, library, fast_math, tuning);
        Ok(DeviceOptions)
    }
}

/// Sets a parameter of the scheme.
fn set(scheme: &mut dyn Scheme, name: &str, value: &str) -> Result<()> {
    let about = scheme.about();
    let Some(Parameter { bounds, .. }) = about.parameter(name) else {
        let own = Some(about.variant_option).filter(|option| !option.is_empty());
        let parameters = about.parameters.iter().map(|known| known.name);
        let names: Vec<&str> = NAMES.into_iter().chain(own).chain(parameters).collect();
        return Pairs(vec![(name, value)]).refuse_the_rest(about.title, &names);
    };
    let number = Pairs(vec![(name, value)]).real(name, *bounds)?.unwrap_or_default();
    scheme.set(name, number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        text.parse::<Options>().expect_err(text).to_string()
    }

    #[test]
    fn options_are_those_of_the_text() {
        let usual: Options = "".parse().unwrap();
        assert_eq!(usual.scheme.about(), registry::SCHEMES[0]);
        assert!(usual.backend == Backend::Cpu && usual.pool.is_none());
        for about in registry::SCHEMES {
            let options: Options =
                format!(" physics = {} , threads=3,", about.key).parse().unwrap();
            assert_eq!(options.scheme.about(), about);
            assert_eq!(options.pool.map(|pool| pool.current_num_threads()), Some(3));
            for Parameter { name, bounds, .. } in about.parameters {
                let text = format!("physics={},{name}={}", about.key, bounds[1]);
                let set = text.parse::<Options>().unwrap().scheme.get(name).unwrap();
                assert!((set / bounds[1] - 1.0).abs() < 1e-6, "{text}: {set}");
            }
            for variant in about.variants {
                for option in ["variant", about.variant_option] {
                    let text = format!("physics={},{option}={}", about.key, variant.key);
                    assert_eq!(text.parse::<Options>().unwrap().scheme.variant(), Some(variant));
                }
            }
        }
    }

    #[test]
    fn impossible_options_are_refused_with_what_is_possible() {
        for (text, says) in [
            ("physics=drizzle", "the schemes are"),
            ("physics", "name=value"),
            ("threads=2,threads=3", "twice"),
            ("variant=substepped,fallout=substepped", "are one"),
            ("threads=0", "from 1 to"),
            ("threads=many", "from 1 to"),
            ("backend=tpu", "cpu, gpu, auto"),
            ("device=-1", "from 0 to"),
            ("fast-math=yes", "on, off"),
            ("fallot=substepped", "the nearest is fallout"),
            ("physics=wsm6,fallout=substepped", "no option fallout with WSM6"),
        ] {
            assert!(refused(text).contains(says), "{text}: {}", refused(text));
        }
        for about in registry::SCHEMES {
            for Parameter { name, bounds, .. } in about.parameters {
                for value in ["nan".to_owned(), "much".to_owned(), format!("{:e}", 2.0 * bounds[1])]
                {
                    let text = format!("physics={},{name}={value}", about.key);
                    assert!(refused(&text).contains("a number from"), "{text}");
                }
            }
        }
    }
}
