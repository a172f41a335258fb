//! Memory, copies, graphs and failures, apart from any weather.

use nwp_mini::device::{AsyncDownload, Event, KernelSource};

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

#[test]
fn downloads_arrive_as_they_were_sent_while_the_original_changes() {
    let Some(gpu) = gpu(true) else { return };
    let n = 3_000_000;
    let original = gpu.zeros::<f32>(n).unwrap();
    let mut download = AsyncDownload::new(&gpu, n).unwrap();
    let mut received = 0;
    for sent in 0..7 {
        original.upload(&vec![sent as f32; n]).unwrap();
        download.send(|gathered| gathered.copy_from(&original)).unwrap();
        original.poison().unwrap();
        if download.in_flight() == 2 || sent == 6 {
            while download.in_flight() > usize::from(sent != 6) {
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
