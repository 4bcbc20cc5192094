//! MQSim on the same drive and load, in turns with the engine: two programs in the same minutes.

use crate::case::{Case, Cost, Given, Load};
use crate::shape::{BUS_MTS, ERASE_US, LBAS, PAGE, PAGES_PER_BLOCK, PEERS, PROGRAM_US, READ_US};
use roxmltree::Document;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;
use std::{env, fs};

/// Five pairs of runs.
pub struct Pairs {
    /// How many times as fast as MQSim, ascending.
    times: Vec<f64>,
    /// Requests a second, the middle of each.
    pub ours: f64,
    pub theirs: f64,
    /// Write amplification of both, where there is collection.
    pub waf: Option<(f64, f64)>,
    /// Requests that MQSim was given and did not complete.
    pub lost: u64,
}

impl Pairs {
    /// The middle, the least and the most.
    pub fn middle(&self) -> (f64, f64, f64) {
        (middle(&self.times), self.times[0], self.times[self.times.len() - 1])
    }
}

fn middle(ascending: &[f64]) -> f64 {
    ascending[ascending.len() / 2]
}

/// What one run of MQSim came to.
struct Run {
    seconds: f64,
    served: u64,
    programs: u64,
}

/// The program, if the environment names one, and where it works.
pub struct MqSim {
    program: PathBuf,
    folder: PathBuf,
}

impl MqSim {
    pub fn find() -> Option<MqSim> {
        let program = PathBuf::from(env::var_os("WORDLINE_MQSIM").filter(|p| !p.is_empty())?);
        let folder = program.with_file_name("case");
        Some(MqSim { program, folder })
    }

    /// Five pairs of a case, and the run of the engine that was in the middle.
    pub fn beside(&self, case: &Case, given: Given) -> Result<(Cost, Pairs), String> {
        let mut costs = vec![];
        let pairs = self.pairs(case, given, || {
            let cost = case.run();
            let found = (cost.requests_per_second(), cost.write_amplification);
            costs.push(cost);
            Ok(found)
        })?;
        costs.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        Ok((costs.swap_remove(costs.len() / 2), pairs))
    }

    /// Five pairs of a case with what does it at so many requests a second and such a write amplification. What MQSim
    /// takes to start and to fill its drive is measured in each pair and taken off.
    pub fn pairs(
        &self,
        case: &Case,
        given: Given,
        mut ours: impl FnMut() -> Result<(f64, f64), String>,
    ) -> Result<Pairs, String> {
        // It fails with fewer requests than it keeps outstanding.
        let few = case.queue_depth.max(100) as u64;
        let (mut found, mut rates, mut times) = (vec![], vec![], vec![]);
        let (mut programs, mut served) = (0, 0);
        for _ in 0..5 {
            let (ours, waf) = ours()?;
            let all = self.run(case, given, given.requests)?;
            let start = self.run(case, given, few)?;
            let rate = (given.requests - few) as f64 / (all.seconds - start.seconds);
            times.push(ours / rate);
            (programs, served) = (all.programs, all.served);
            found.push((ours, waf));
            rates.push(rate);
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        rates.sort_by(f64::total_cmp);
        times.sort_by(f64::total_cmp);
        let (ours, waf) = found[found.len() / 2];
        let collects = given.occupancy > 0;
        Ok(Pairs {
            times,
            ours,
            theirs: middle(&rates),
            waf: collects.then(|| (waf, programs as f64 / served as f64)),
            lost: given.requests - served,
        })
    }

    fn run(&self, case: &Case, given: Given, requests: u64) -> Result<Run, String> {
        let results = self.folder.join("workload_scenario_1.xml");
        let write = |name, text| fs::write(self.folder.join(name), text);
        fs::create_dir_all(&self.folder)
            .and_then(|()| write("ssdconfig.xml", drive(case, given)))
            .and_then(|()| write("workload.xml", load(case, given, requests)))
            .and_then(|()| if results.exists() { fs::remove_file(&results) } else { Ok(()) })
            .map_err(|e| format!("{}: {e}", self.folder.display()))?;
        let mut command = Command::new(&self.program);
        command.args(["-i", "ssdconfig.xml", "-w", "workload.xml"]).current_dir(&self.folder);
        // It waits for a key at its end.
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let begin = Instant::now();
        let ended = command.status().map_err(|e| format!("{}: {e}", self.program.display()))?;
        let seconds = begin.elapsed().as_secs_f64();
        let failed = |what: String| {
            format!("MQSim on {}: {what}; its files are in {}", case.name, self.folder.display())
        };
        let text = fs::read_to_string(&results).map_err(|e| failed(format!("{ended}, no results ({e})")))?;
        let (served, programs) = read(&text).ok_or_else(|| failed("results without its counts".into()))?;
        if served < requests / 100 * 99 || served > requests {
            return Err(failed(format!("{ended} after {served} of {requests} requests")));
        }
        Ok(Run { seconds, served, programs })
    }
}

/// Requests served and pages programmed, from what MQSim writes.
fn read(text: &str) -> Option<(u64, u64)> {
    let results = Document::parse(text).ok()?;
    let served = results.descendants().find(|n| n.has_tag_name("Request_Count"))?.text()?;
    let programs = results.descendants().find_map(|n| n.attribute("Issued_Flash_Program_CMD"))?;
    Some((served.trim().parse().ok()?, programs.parse().ok()?))
}

/// Elements of MQSim's files, a line each.
fn elements(all: &[(&str, String)]) -> String {
    all.iter().map(|(name, value)| format!("<{name}>{value}</{name}>\n")).collect()
}

/// A drive as MQSim describes it; what is left out is as it has it by itself.
fn drive(case: &Case, given: Given) -> String {
    let shape = case.shape;
    let latency = |us: u32| (us * 1_000).to_string();
    let (read, program) = (latency(READ_US), latency(PROGRAM_US));
    let flash = elements(&[
        ("Flash_Technology", "SLC".into()),
        ("Page_Read_Latency_LSB", read.clone()),
        ("Page_Read_Latency_CSB", read.clone()),
        ("Page_Read_Latency_MSB", read),
        ("Page_Program_Latency_LSB", program.clone()),
        ("Page_Program_Latency_CSB", program.clone()),
        ("Page_Program_Latency_MSB", program),
        ("Block_Erase_Latency", latency(ERASE_US)),
        ("Die_No_Per_Chip", "1".into()),
        ("Plane_No_Per_Die", "1".into()),
        ("Block_No_Per_Plane", shape.blocks_per_plane().to_string()),
        ("Page_No_Per_Block", PAGES_PER_BLOCK.to_string()),
        ("Page_Capacity", PAGE.to_string()),
    ]);
    let over = PEERS.over_provisioning as f64;
    let drive = elements(&[
        ("Enabled_Preconditioning", (given.occupancy > 0).to_string()),
        ("HostInterface_Type", "NVME".into()),
        ("Caching_Mechanism", "SIMPLE".into()),
        ("Address_Mapping", "PAGE_LEVEL".into()),
        ("Ideal_Mapping_Table", "true".into()),
        ("Plane_Allocation_Scheme", "CWDP".into()),
        ("Transaction_Scheduling_Policy", "PRIORITY_OUT_OF_ORDER".into()),
        // Of all there is, and not over what the host sees.
        ("Overprovisioning_Ratio", format!("{:.4}", over / (1_000.0 + over))),
        ("GC_Exec_Threshold", format!("{:.2}", PEERS.trigger as f64 / 100.0)),
        ("GC_Block_Selection_Policy", "GREEDY".into()),
        ("Use_Copyback_for_GC", "false".into()),
        ("Preemptible_GC_Enabled", "false".into()),
        ("GC_Hard_Threshold", "0.005".into()),
        ("Flash_Channel_Count", shape.channels.to_string()),
        ("Flash_Channel_Width", "1".into()),
        ("Channel_Transfer_Rate", BUS_MTS.to_string()),
        ("Chip_No_Per_Channel", shape.dies_per_channel.to_string()),
    ]);
    format!(
        "<?xml version=\"1.0\" encoding=\"us-ascii\"?>\n<Execution_Parameter_Set>\n\
         <Host_Parameter_Set>\n</Host_Parameter_Set>\n\
         <Device_Parameter_Set>\n{drive}<Flash_Parameter_Set>\n{flash}</Flash_Parameter_Set>\n\
         </Device_Parameter_Set>\n</Execution_Parameter_Set>\n"
    )
}

/// A load as MQSim describes it.
fn load(case: &Case, given: Given, requests: u64) -> String {
    let ids = |n: u32| (0..n).map(|i| i.to_string()).collect::<Vec<_>>().join(",");
    let (blocks, reads, order) = match case.load {
        Load::RandomReads(blocks) => (blocks as u64, 100, "RANDOM_UNIFORM"),
        Load::RandomWrites => (LBAS, 0, "RANDOM_UNIFORM"),
        Load::SequentialWrites => (LBAS, 0, "STREAMING"),
    };
    let flow = elements(&[
        ("Priority_Class", "HIGH".into()),
        ("Device_Level_Data_Caching_Mode", "TURNED_OFF".into()),
        ("Channel_IDs", ids(case.shape.channels)),
        ("Chip_IDs", ids(case.shape.dies_per_channel)),
        ("Die_IDs", "0".into()),
        ("Plane_IDs", "0".into()),
        ("Initial_Occupancy_Percentage", given.occupancy.to_string()),
        ("Working_Set_Percentage", "100".into()),
        ("Synthetic_Generator_Type", "QUEUE_DEPTH".into()),
        ("Read_Percentage", reads.to_string()),
        ("Address_Distribution", order.into()),
        ("Percentage_of_Hot_Region", "0".into()),
        ("Generated_Aligned_Addresses", "true".into()),
        ("Address_Alignment_Unit", blocks.to_string()),
        ("Request_Size_Distribution", "FIXED".into()),
        ("Average_Request_Size", blocks.to_string()),
        ("Variance_Request_Size", "0".into()),
        ("Seed", "798".into()),
        ("Average_No_of_Reqs_in_Queue", case.queue_depth.to_string()),
        ("Intensity", "32768".into()),
        ("Stop_Time", "0".into()),
        ("Total_Requests_To_Generate", requests.to_string()),
    ]);
    format!(
        "<?xml version=\"1.0\" encoding=\"us-ascii\"?>\n<MQSim_IO_Scenarios><IO_Scenario>\n\
         <IO_Flow_Parameter_Set_Synthetic>\n{flow}</IO_Flow_Parameter_Set_Synthetic>\n\
         </IO_Scenario></MQSim_IO_Scenarios>\n"
    )
}
