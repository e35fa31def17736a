//! The same operations on memory, on both trees of the disk and on etcd.

use std::sync::Arc;

use triptych_core::id::{Ids, SeededIds};
use triptych_core::kv::{KeyValue, Memory, Sled, SledConfig, TreeKind};

use super::operations::operation;

const SEQUENCES: u64 = 4;
const OPERATIONS: usize = 150;

#[test]
fn the_same_operations_give_the_same_answers_on_every_engine() {
    let cluster = super::shared_cluster();
    for seed in 0..SEQUENCES {
        let folder = tempfile::tempdir().unwrap();
        let tree = |name| {
            let tree = TreeKind::named(name).unwrap();
            SledConfig { tree, ..SledConfig::new(folder.path().join(name)) }
        };
        let stores: [(&str, Arc<dyn KeyValue>); 4] = [
            ("memory", Arc::new(Memory::new())),
            ("sled", Arc::new(Sled::open(&tree("sled")).unwrap())),
            ("redb", Arc::new(Sled::open(&tree("redb")).unwrap())),
            ("etcd", super::open(&cluster, &format!("sequence_{seed}"))),
        ];
        let mut choices = SeededIds::from_number(seed);
        for number in 0..OPERATIONS {
            let fork = choices.fork();
            let [(_, model), others @ ..] = &stores;
            let expected = operation(&mut fork.clone(), &**model);
            for (name, store) in others {
                let answer = operation(&mut fork.clone(), &**store);
                assert_eq!(answer, expected, "{name}, seed {seed}, operation {number}");
            }
        }
    }
}
