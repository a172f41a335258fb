//! The rates of a mechanism, resolved when all its files have been read: a rate may name what comes later.

use super::RateCode;
use super::diagnostics::{Severity, SourceFile};
use super::fortran::{Code, Evaluator, Fault, Language};
use super::sections::MechanismParser;

/// Uses of blocks of code in KPP, by the part of their keys after the language.
const READ: [&str; 4] = ["GLOBAL", "RATES", "RCONST", "RCONST_USE"];

/// Blocks that KPP has no rates in.
const WITHOUT_RATES: [&str; 3] = ["INIT", "DATA", "UTIL"];

impl MechanismParser {
    /// Adds code for the rates that the files of the mechanism do not hold.
    pub(super) fn code(&mut self, code: &RateCode) {
        self.rate_code = code.clone();
    }

    /// All code of the mechanism, in the order in which KPP puts it together.
    fn gathered(&mut self) -> Code {
        let has = |prefix: &str| self.blocks.iter().any(|block| block.key.starts_with(prefix));
        let is_c =
            self.language == "C" || (self.language.is_empty() && has("C_R") && !has("F90_R"));
        let (prefix, language) =
            if is_c { ("C_", Language::C) } else { ("F90_", Language::Fortran) };
        let mut code = Code::default();
        code.constants.clone_from(&self.rate_code.constants);
        code.is_c = is_c;
        code.has_whole_quotients = self.language != "MATLAB";
        for part in READ {
            for block in &self.blocks {
                if block.key.strip_prefix(prefix) == Some(part) {
                    let text = self.diagnostics.sources[block.file].text.as_bytes();
                    code.add(text, block.file, block.range, language);
                }
            }
            // Modules are there before the variables of the mechanism are set.
            if part == "RATES" {
                for (path, text) in std::mem::take(&mut self.rate_code.files) {
                    let is_c = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("c"));
                    let language = if is_c { Language::C } else { Language::Fortran };
                    let file = self.diagnostics.sources.len();
                    code.add(text.as_bytes(), file, [0, text.len()], language);
                    self.diagnostics.sources.push(SourceFile { path, text });
                }
            }
        }
        for block in &self.blocks {
            let part = block.key.split_once('_').map_or("", |(_, part)| part);
            let is_read = block.key.strip_prefix(prefix).is_some_and(|part| READ.contains(&part));
            let is_other = READ.contains(&part) && !block.key.starts_with(prefix);
            if !is_read && !is_other && !WITHOUT_RATES.contains(&part) {
                code.skipped.push(block.key.clone());
            }
        }
        code
    }

    /// Turns rates into expressions of the quantities of a cell.
    pub(super) fn resolve_rates(&mut self) {
        let code = self.gathered();
        let rates = std::mem::take(&mut self.rates);
        let mut faults: Vec<Fault> = Vec::new();
        let mut evaluator = Evaluator::new(&code, &self.diagnostics.sources, &self.species);
        evaluator.set_variables();
        // Reactions by the division that has changed their rates.
        let mut changed: Vec<Vec<usize>> = Vec::new();
        for rate in &rates {
            if self.diagnostics.errors() + faults.len() > MOST_FAULTS {
                break;
            }
            match evaluator.rate(&rate.expression) {
                Ok((node, loss)) => {
                    let Some(number) = rate.reaction else { continue };
                    self.mechanism.reactions[number].rate = node;
                    if let Some(loss) = loss {
                        changed.resize_with(evaluator.losses.len(), Vec::new);
                        changed[loss as usize].push(number);
                    }
                }
                Err(fault) => faults.push(*fault),
            }
        }
        let Evaluator { expressions, photolysis, quantities, losses, not_run, used, .. } =
            evaluator;
        for Fault { span, message, help } in not_run {
            let message = format!("{message}: what this statement sets has no value");
            self.diagnostics.warning(span, message, help);
        }
        for (name, _) in &code.constants {
            if !used.iter().any(|used| used.eq_ignore_ascii_case(name)) {
                let message = format!("no rate uses {name}, for which a value is given");
                self.diagnostics.add(Severity::Warning, None, message, String::new());
            }
        }
        self.mechanism.expressions = expressions;
        self.mechanism.photolysis = photolysis;
        self.mechanism.quantities = quantities;
        for Fault { span, message, help } in faults {
            self.diagnostics.error(span, message, help);
        }
        for (loss, reactions) in losses.iter().zip(&changed) {
            if reactions.is_empty() {
                continue;
            }
            let names: Vec<String> =
                reactions.iter().map(|&number| self.mechanism.reaction_name(number)).collect();
            let message = format!("{}; it changes the rate of {}", loss.message, names.join(", "));
            let help = "write one of the numbers with a point, as 1./3., for the quotient of reals";
            self.diagnostics.add(Severity::Warning, Some(loss.span), message, help.to_owned());
        }
    }
}

/// Faults of rates from which on no more are looked for.
const MOST_FAULTS: usize = 50;
