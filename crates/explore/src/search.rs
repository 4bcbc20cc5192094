//! Breadth-first search of all reachable states of a drive, and of livelocks among them.

use crate::words::{event_in_words, pending_in_words};
use crate::world::{Event, World};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::time::{Duration, Instant};
use twox_hash::XxHash3_128;

/// When a search stops early.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// States.
    pub states: usize,
    /// Time.
    pub time: Duration,
    /// Kinds of faults.
    pub faults: usize,
}

/// A fault, with the shortest way to it.
#[derive(Clone, Debug)]
pub struct Fault {
    /// Its text.
    pub what: String,
    /// How often a similar state was reached.
    pub times: usize,
    /// The events that lead there, each in words.
    pub path: Vec<String>,
    /// Pending events in it.
    pub state: String,
}

/// Result of a search.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Distinct states.
    pub states: usize,
    /// Number of transitions between states.
    pub transitions: usize,
    /// Maximum number of events on the shortest path to any state.
    pub depth: usize,
    /// Duration of the search.
    pub time: Duration,
    /// Whether every state has been expanded.
    pub is_whole: bool,
    /// Faults of different kinds.
    pub faults: Vec<Fault>,
    /// Maximum number of bytes of the states in memory.
    pub bytes: usize,
}

/// How a state was first reached.
struct Node {
    from: u32,
    event: Event,
    depth: u32,
}

/// An event of the drive that completes no request.
#[derive(Clone, Copy)]
struct Step {
    from: u32,
    to: u32,
    /// The bit of its actor: a plane, or a timer.
    actor: u16,
}

/// A search in progress.
pub struct Search {
    world: World,
    root: Vec<u8>,
    seen: FxHashMap<u128, u32>,
    nodes: Vec<Node>,
    steps: Vec<Step>,
    /// Who could do something, by state.
    enabled: Vec<u16>,
    found: Found,
}

const TIMERS: u16 = 1 << 14;
const OTHERS: u16 = 1 << 15;

fn actor(event: Event) -> u16 {
    match event {
        Event::Begin(plane) | Event::End(plane) => 1 << plane,
        Event::Ring(_) => TIMERS,
        _ => OTHERS,
    }
}

impl Search {
    /// A search from the current state of a drive.
    pub fn new(mut world: World) -> Search {
        let root = world.pack();
        Search {
            world,
            root,
            seen: FxHashMap::default(),
            nodes: vec![],
            steps: vec![],
            enabled: vec![],
            found: Found::default(),
        }
    }

    /// Explore all states, or as many as the limits allow.
    pub fn run(mut self, limits: Limits) -> Found {
        let begun = Instant::now();
        let mut front: VecDeque<Vec<u8>> = VecDeque::new();
        self.seen.insert(XxHash3_128::oneshot(&self.root), 0);
        self.nodes.push(Node { from: 0, event: Event::Idle, depth: 0 });
        front.push_back(self.root.clone());
        let (mut at, mut held, mut events) = (0u32, self.root.len(), vec![]);
        while let Some(bytes) = front.pop_front() {
            held -= bytes.len();
            if self.found.faults.len() >= limits.faults
                || self.nodes.len() >= limits.states
                || (at.is_multiple_of(256) && begun.elapsed() > limits.time)
            {
                break;
            }
            self.expand(at, &bytes, &mut events, &mut front, &mut held);
            self.found.bytes = self.found.bytes.max(held);
            at += 1;
        }
        self.found.is_whole = at as usize == self.nodes.len();
        self.found.states = self.nodes.len();
        self.find_circles(at as usize);
        self.found.time = begun.elapsed();
        self.found
    }

    fn expand(
        &mut self,
        at: u32,
        bytes: &[u8],
        events: &mut Vec<Event>,
        front: &mut VecDeque<Vec<u8>>,
        held: &mut usize,
    ) {
        self.go_to(bytes);
        self.world.events(events);
        self.enabled.push(events.iter().filter(|e| !e.is_of_host()).map(|e| actor(*e)).fold(0, |a, b| a | b));
        let depth = self.nodes[at as usize].depth + 1;
        for (i, event) in events.iter().copied().enumerate() {
            if i > 0 {
                self.go_to(bytes);
            }
            let ended = match self.world.happen(event) {
                Ok(ended) => ended,
                Err(what) => {
                    self.note(what, at, Some(event));
                    continue;
                }
            };
            self.found.transitions += 1;
            let next = self.world.pack();
            let fresh = self.nodes.len() as u32;
            let to = *self.seen.entry(XxHash3_128::oneshot(&next)).or_insert(fresh);
            if to == fresh {
                self.nodes.push(Node { from: at, event, depth });
                self.found.depth = self.found.depth.max(depth as usize);
                *held += next.len();
                front.push_back(next);
            }
            let helps = event != Event::LastResort || to != at;
            if !event.is_of_host() && ended == 0 && helps {
                self.steps.push(Step { from: at, to, actor: actor(event) });
            } else if !helps && self.world.is_asked() {
                self.note("deadlock: the last resort changes nothing".into(), at, None);
            }
        }
    }

    fn go_to(&mut self, bytes: &[u8]) {
        if let Err(e) = self.world.unpack(bytes.to_vec()) {
            unreachable!("a state that was packed cannot be unpacked: {e}");
        }
    }

    /// A fault has been met. States of one kind differ in numbers only.
    fn note(&mut self, what: String, at: u32, event: Option<Event>) {
        let kind = |what: &str| what.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
        let like = self.found.faults.iter_mut().find(|fault| kind(&fault.what) == kind(&what));
        if let Some(like) = like {
            like.times += 1;
            return;
        }
        let (path, state) = self.way_to(at, event);
        self.found.faults.push(Fault { what, times: 1, path, state });
    }

    /// The events on the path to a state, and one after it, in words; and the events pending then.
    fn way_to(&mut self, at: u32, event: Option<Event>) -> (Vec<String>, String) {
        let mut events: Vec<Event> = event.into_iter().collect();
        let mut node = at as usize;
        while node > 0 {
            events.push(self.nodes[node].event);
            node = self.nodes[node].from as usize;
        }
        let root = self.root.clone();
        self.go_to(&root);
        let mut path = vec![];
        let mut state = pending_in_words(&self.world);
        for event in events.into_iter().rev() {
            path.push(event_in_words(&self.world, event));
            if self.world.happen(event).is_ok() {
                self.world.pack(); // as the search did: numbers are those of the states that it saw
            }
            state = pending_in_words(&self.world);
        }
        (path, state)
    }

    /// Livelocks: cycles of events of the drive in which no request completes, and which fair scheduling does not
    /// leave: every plane and timer acts in the cycle, or has nothing to do in one of its states.
    fn find_circles(&mut self, expanded: usize) {
        let mut first = vec![0usize; expanded + 1];
        for step in &self.steps {
            first[step.from as usize + 1] += 1;
        }
        for i in 0..expanded {
            first[i + 1] += first[i];
        }
        let component = components(expanded, &first, &self.steps);
        // Of each component: who acts in it, who is enabled throughout, its first state.
        let count = component.iter().max().map_or(0, |last| *last as usize + 1);
        let mut acts = vec![0u16; count];
        let mut always = vec![u16::MAX; count];
        let mut least = vec![u32::MAX; count];
        for (node, c) in component.iter().enumerate() {
            always[*c as usize] &= self.enabled[node];
            least[*c as usize] = least[*c as usize].min(node as u32);
        }
        for step in &self.steps {
            let to = component.get(step.to as usize);
            if to == Some(&component[step.from as usize]) {
                acts[component[step.from as usize] as usize] |= step.actor;
            }
        }
        let mut circles: Vec<u32> =
            (0..count).filter(|c| acts[*c] != 0 && always[*c] & !acts[*c] == 0).map(|c| least[c]).collect();
        circles.sort_unstable();
        for at in circles {
            self.note("livelock: events continue forever, and no request completes".into(), at, None);
        }
    }
}

/// The strongly connected component of each state (R. Tarjan, 1972), without recursion.
fn components(nodes: usize, first: &[usize], steps: &[Step]) -> Vec<u32> {
    const NEW: u32 = u32::MAX;
    let (mut index, mut low) = (vec![NEW; nodes], vec![0u32; nodes]);
    let mut component = vec![NEW; nodes];
    let (mut stack, mut counted, mut components) = (vec![], 0u32, 0u32);
    let mut calls: Vec<(usize, usize)> = vec![];
    for root in 0..nodes {
        if index[root] != NEW {
            continue;
        }
        calls.push((root, first[root]));
        while let Some((node, at)) = calls.pop() {
            if at == first[node] {
                (index[node], low[node]) = (counted, counted);
                counted += 1;
                stack.push(node);
            } else {
                let child = steps[at - 1].to as usize;
                if child < nodes && component[child] == NEW {
                    low[node] = low[node].min(low[child]);
                }
            }
            let next = (at..first[node + 1]).find(|i| {
                let child = steps[*i].to as usize;
                if child < nodes && index[child] != NEW && component[child] == NEW {
                    low[node] = low[node].min(index[child]);
                }
                child < nodes && index[child] == NEW
            });
            if let Some(i) = next {
                let child = steps[i].to as usize;
                calls.push((node, i + 1));
                calls.push((child, first[child]));
            } else if low[node] == index[node] {
                while let Some(member) = stack.pop() {
                    component[member] = components;
                    if member == node {
                        break;
                    }
                }
                components += 1;
            }
        }
    }
    component
}
