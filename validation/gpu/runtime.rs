//! Memory, copies, graphs and failures, apart from any weather.

use std::ops::Range;

use nwp_mini::device::{AsyncDownload, Event, Gpu, KernelSource};

use crate::gpu;

#[test]
fn what_is_copied_comes_back() {
    let Some(gpu) = gpu(true) else { return };
    let values: Vec<f32> = (0..1_000_003_u32).map(|i| i as f32).collect();
    let buffer = gpu.upload(&values).unwrap();
    assert_eq!(buffer.to_vec().unwrap(), values);
    let other = gpu.zeros::<f32>(values.len()).unwrap();
    assert!(other.to_vec().unwrap().iter().all(|&x| x == 0.0));
    other.copy_from(&buffer).unwrap();
    other.upload_to(10, &[-1.0, -2.0]).unwrap();
    let mut part = [0.0; 4];
    other.download_from(9, &mut part).unwrap();
    assert_eq!(part, [9.0, -1.0, -2.0, 12.0]);
    other.poison().unwrap();
    assert!(other.to_vec().unwrap().iter().all(|x| x.is_nan()));
    let nothing = gpu.upload::<f64>(&[]).unwrap();
    assert!(nothing.is_empty() && nothing.to_vec().unwrap().is_empty());
}

/// Pieces of 8 MiB, the last of them with an odd number of elements.
#[test]
fn large_arrays_come_back_as_they_went() {
    let Some(gpu) = gpu(true) else { return };
    let values: Vec<f64> = (0..2_500_001_u32).map(f64::from).collect();
    let buffer = gpu.zeros::<f64>(values.len() + 7).unwrap();
    for round in 0..3 {
        buffer.poison().unwrap();
        buffer.upload_to(round, &values).unwrap();
        let found = buffer.to_vec().unwrap();
        assert!(found[round..][..values.len()] == values, "round {round}");
        let beside = found[..round].iter().chain(&found[round + values.len()..]);
        assert!(beside.copied().all(f64::is_nan), "round {round}");
    }
    let double = |range: Range<usize>, out: &mut [f64]| {
        out.iter_mut().zip(range).for_each(|(out, at)| *out = 2.0 * values[at]);
    };
    for len in [0, 1, 1_000, values.len()] {
        buffer.upload_made(5, len, double).unwrap();
        let found = buffer.to_vec().unwrap();
        assert!(found[5..][..len].iter().zip(&values).all(|(x, y)| *x == 2.0 * y), "{len}");
    }
}

#[test]
fn downloads_arrive_as_they_were_sent_while_the_original_changes() {
    let Some(gpu) = gpu(true) else { return };
    for download in [AsyncDownload::new, AsyncDownload::in_pieces] {
        parcels_arrive(&gpu, download(&gpu, PARCEL).unwrap());
    }
}

/// Elements of a parcel: two pieces.
const PARCEL: usize = 3_000_000;

fn parcels_arrive(gpu: &Gpu, mut download: AsyncDownload<f32>) {
    let n = PARCEL;
    let original = gpu.zeros::<f32>(n).unwrap();
    let mut received = 0;
    for sent in 0..7 {
        original.upload(&vec![sent as f32; n]).unwrap();
        download.send(|gathered| gathered.copy_from(&original)).unwrap();
        original.poison().unwrap();
        if download.is_full() || sent == 6 {
            let parts = [7..n, 0..0, 0..7];
            if sent == 3 {
                let found = download.receive_parts(&parts).unwrap().unwrap();
                let same = |(found, part): (&Vec<f32>, &Range<usize>)| {
                    found.len() == part.len() && found.iter().all(|&x| x == received as f32)
                };
                assert!(found.iter().zip(&parts).all(same), "parts of parcel {received}");
                received += 1;
            }
            while download.is_full() || (sent == 6 && download.in_flight() > 0) {
                let right = download.receive(|x| x.iter().all(|&x| x == received as f32)).unwrap();
                assert_eq!(right, Some(true), "parcel {received}");
                received += 1;
            }
        }
    }
    assert_eq!(received, 7);
    assert!(!download.is_complete().unwrap());
    assert_eq!(download.receive(|_| ()).unwrap(), None);
}

#[test]
fn graphs_replay_what_was_recorded() {
    let Some(gpu) = gpu(true) else { return };
    let (a, b) = (gpu.upload(&[1.0_f64, 2.0]).unwrap(), gpu.zeros::<f64>(2).unwrap());
    let mut graph = gpu.capture(|| b.copy_from(&a)).unwrap();
    assert_eq!(b.to_vec().unwrap(), [0.0, 0.0], "recording does nothing");
    for value in [3.0, 4.0] {
        a.upload(&[value, value]).unwrap();
        graph.launch().unwrap();
        assert_eq!(b.to_vec().unwrap(), [value, value]);
    }
    let event = Event::new(&gpu).unwrap();
    event.record(&gpu).unwrap();
    event.wait().unwrap();
    assert!(event.is_reached().unwrap());
    assert!(gpu.elapsed(|| graph.launch()).unwrap() > 0.0);
}

#[test]
fn too_much_memory_is_refused_with_numbers() {
    let Some(gpu) = gpu(true) else { return };
    let [free, total] = gpu.memory().unwrap();
    assert!(free <= total && total == gpu.device().memory || free < total);
    let error = gpu.zeros::<u64>(total).unwrap_err().to_string();
    assert!(error.contains(&format!("{} bytes", 8 * total)), "{error}");
    // A refusal does no harm.
    assert_eq!(gpu.upload(&[5_i32]).unwrap().to_vec().unwrap(), [5]);
}

#[test]
fn code_that_does_not_compile_is_shown_with_file_and_line() {
    let Some(gpu) = gpu(true) else { return };
    let source = KernelSource {
        file: "forcing.cu",
        prelude: "typedef float real;".to_owned(),
        is_exact: false,
        text: None,
    };
    let error = gpu.module(&source).unwrap_err().to_string();
    assert!(error.contains(crate::sized("kernels/forcing.cu(", "kernels/forcing.cu:")), "{error}");
}

#[test]
fn a_kernel_that_is_not_there_is_named() {
    let Some(gpu) = gpu(true) else { return };
    let prelude = "typedef float real;\n".to_owned();
    let source = KernelSource { file: "forcing/blend.cuh", prelude, is_exact: false, text: None };
    let module = gpu.module(&source).unwrap();
    let error = module.kernel("no_such_kernel").unwrap_err().to_string();
    assert!(error.contains("no_such_kernel") && error.contains("forcing/blend.cuh"), "{error}");
}
