//! Arguments that are wrong on purpose.

use serde_json::{Value, json};

use super::argument::Arguments;
use super::symbols::NOWHERE;

impl Arguments {
    /// Makes arguments wrong: an id of nothing, a value of another kind, a property that does not exist, too few or too many.
    pub(super) fn spoil(&mut self, args: &mut Vec<Value>) {
        let wrong = [
            json!(NOWHERE),
            json!(NOWHERE),
            json!(-1),
            json!(0),
            json!(-3),
            json!(1.5),
            json!(2_147_483_648_i64),
            json!(4_294_967_296_i64),
            json!(null),
            json!(true),
            json!(""),
            json!("x"),
            json!([]),
            json!([1]),
            json!([null]),
            json!(["x"]),
            json!({}),
            json!({ "foo": 1 }),
            json!({ "$js": "undefined" }),
            json!({ "$js": "NaN" }),
            json!({ "$js": "Infinity" }),
            json!({ "$js": "function" }),
        ];
        let value = self.random.pick(&wrong).cloned().unwrap_or_default();
        let at = self.random.below(args.len());
        match self.random.below(12) {
            0 => args.push(value),
            1 => drop(args.pop()),
            2..8 if args
                .get(at)
                .is_some_and(|arg| arg.as_object().is_some_and(|members| !members.is_empty())) =>
            {
                let members = args.get_mut(at).and_then(Value::as_object_mut);
                let Some(members) = members else { return };
                let names: Vec<_> = members.keys().cloned().collect();
                let name = self.random.pick(&names).cloned().unwrap_or_default();
                if self.random.chance(8) {
                    members.insert("foo".into(), value);
                } else if self.random.chance(8) {
                    members.remove(&name);
                } else {
                    members.insert(name, value);
                }
            }
            _ => match args.get_mut(at) {
                Some(arg) => *arg = value,
                None => args.push(value),
            },
        }
    }
}
