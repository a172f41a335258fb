//! A member has the bits of a single run, whatever other members run with it.

use std::sync::atomic::AtomicBool;

use nwp_mini::advection::Limiter;
use nwp_mini::backend::cpu::Cpu;
use nwp_mini::ensemble::Ensemble;
use nwp_mini::frame::Snapshot;
use nwp_mini::io::wrf::{
    self,
    series::{Overlap, Series},
};
use nwp_mini::model::{self, Frames, RunInput};
use nwp_mini::physics::registry::usual_set;
use nwp_mini::physics::wsm5::{Sedimentation, Wsm5};
use nwp_mini::time_steps::{Length, Plan};

use super::ensemble;
use super::place::Place;
use super::result::Output;
use super::small::Small;

/// Variables of the output that differ from member to member: all fields, and the ground.
const VARIABLES: [&str; 9] =
    ["T", "QVAPOR", "QCLOUD", "QRAIN", "QICE", "QSNOW", "REFL_10CM", "RAINNC", "QVAPOR_PATH"];

const STEPS: usize = 6;

/// The bits of a variable at the last time, of one member if it has members.
fn bits(output: &Output, name: &str, member: Option<usize>) -> Vec<u64> {
    let values = output.last(name);
    let values = match member {
        Some(member) => values.index_axis(ndarray::Axis(0), member).to_owned(),
        None => values,
    };
    values.iter().map(|x| x.to_bits()).collect()
}

/// The bits of the last frame of a member that runs alone.
fn alone<R: model::RunPrecision>(
    inputs: &[&str],
    place: &Place,
    number: usize,
    fallout: Sedimentation,
) -> Vec<Vec<u64>> {
    let text = std::fs::read_to_string(place.path("e.toml")).expect("a file");
    let ensemble =
        Ensemble::parse(&place.path("e.toml"), &text, &usual_set()).expect("an ensemble");
    let inputs: Vec<_> = inputs.iter().map(|name| place.path(name)).collect();
    let (domain, frame) = wrf::read(&inputs[0], None).expect("an input");
    let series = Series::open(&inputs, &domain, (Overlap::Refuse, &usual_set())).expect("a series");
    let case = RunInput::<R>::new(domain, frame).expect("a case");
    let mut case = case.follow(series, 3600.0).expect("frames");
    let plan = Plan::new(Length::Steps(STEPS), Some(60.0), None, case.max_dt).expect("a plan");
    let mut state = case.take_state();
    let (grid, coordinate) = (case.domain.grid, case.domain.coordinate.clone());
    ensemble.disturb(number, &grid, &mut state);
    let limiter = Limiter::PositiveDefinite;
    let scheme = ensemble.scheme(number, &Wsm5::from(fallout)).expect("its parameters");
    let mut cpu = Cpu::new(&grid, &coordinate, limiter, &*scheme, &case.forcing, state);
    let mut last: Option<Snapshot<R>> = None;
    let mut keep = |_step: usize, frame: Snapshot<R>| {
        last = Some(frame);
        true
    };
    let stop = AtomicBool::new(false);
    model::run(&mut case, &plan, Frames::default(), &mut cpu, &stop, &mut keep, &mut |_| ())
        .expect("a run");
    let Snapshot { state, diagnostics, surface, contents, .. } = last.expect("a frame");
    let of = |values: &[R]| values.iter().map(|x| x.f64().to_bits()).collect::<Vec<u64>>();
    let fields = state.fields().iter().chain([diagnostics.named("refl_10cm")]);
    let mut found: Vec<_> =
        fields.map(|field| of(field.as_slice().expect("standard layout"))).collect();
    found.push(of(surface.named("rain").as_slice().expect("standard layout")));
    let planes = contents.as_slice().expect("standard layout");
    found.push(of(&planes[..surface.named("rain").len()]));
    found
}

/// A second time of input, with other winds.
fn later(place: &Place) {
    let mut small = Small::new();
    small.stamp = "2005-08-28_18:05:00";
    small.values("U").mapv_inplace(|u| 1.3 * u);
    small.write(&place.path("later.nc"));
}

#[test]
fn members_have_the_bits_of_runs_by_themselves() {
    for (precision, fallout, options, inputs) in [
        (
            "f32",
            Sedimentation::SemiLagrangian,
            &["--threads", "3"][..],
            &["small.nc", "later.nc"][..],
        ),
        ("f64", Sedimentation::Substepped, &["--fallout", "substepped"], &["small.nc"]),
    ] {
        let place = ensemble(4, "");
        later(&place);
        let steps = STEPS.to_string();
        let common = [&["-q", "--steps", &steps, "--dt", "60", "--precision", precision], options];
        let common = [&["--input"], inputs, &common.concat()].concat();
        // Additional frames change no result.
        let more = ["--ensemble", "e.toml", "-o", "e.nc", "--output-interval", "120"];
        place.run(&[&common[..], &more].concat()).good();
        let output = place.open("e.nc");
        let found = |member: usize| VARIABLES.map(|name| bits(&output, name, Some(member)));
        for member in 0..4 {
            let expected = match precision {
                "f32" => alone::<f32>(inputs, &place, member, fallout),
                _ => alone::<f64>(inputs, &place, member, fallout),
            };
            for ((name, found), expected) in VARIABLES.iter().zip(found(member)).zip(expected) {
                assert!(found == expected, "{precision}, member {member}: {name} differs");
            }
        }
        // The comparison detects different members.
        for name in ["T", "QVAPOR", "QRAIN", "RAINNC"] {
            let [a, b] = [1, 2].map(|member| bits(&output, name, Some(member)));
            assert!(a != b, "{precision}: {name} is the same");
        }
        // The control is the run without an ensemble, in all that the file has of it.
        place.run(&[&common[..], &["-o", "one.nc", "--force"]].concat()).good();
        let one = place.open("one.nc");
        for name in one.names().iter().filter(|name| *name != "Times") {
            let has_members =
                output.variable(name).dimensions().iter().any(|d| d.name() == "member");
            let member = has_members.then_some(0);
            assert!(bits(&one, name, None) == bits(&output, name, member), "{precision}: {name}");
        }
    }
}

#[test]
fn members_do_not_depend_on_how_many_there_are() {
    let run = |members: usize, more: &str| {
        let place = ensemble(members, more);
        let arguments = ["-q", "--steps", "2", "--ensemble", "e.toml", "-o", "e.nc"];
        place.run_small(&arguments).good();
        let output = place.open("e.nc");
        (output.values("PARAM_N0R"), move |member| {
            VARIABLES.map(|name| bits(&output, name, Some(member)))
        })
    };
    let ((few_n0r, few), (many_n0r, many)) = (run(3, ""), run(9, ""));
    for member in 0..3 {
        assert!(few(member) == many(member), "member {member}");
        assert_eq!(few_n0r[[member]], many_n0r[[member]]);
    }
    // Without a control the first member is perturbed, and the others do not change.
    let (_, perturbed) = run(3, "control = false\n");
    assert!(perturbed(0) != few(0) && perturbed(1) == few(1));
}
