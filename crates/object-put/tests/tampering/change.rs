//! Changes that may happen to what is stored.

use serde_json::Value;

/// All that may become of a record: each text with a sign changed, cut and emptied, each number one more and none, each switch turned, each
/// member left out.
pub fn changes(json: &Value) -> Vec<Value> {
    match json {
        Value::String(text) => {
            let flipped = |place: usize| {
                let sign = |(at, sign): (usize, char)| match (at == place, sign) {
                    (true, 'A') => 'B',
                    (true, _) => 'A',
                    (false, own) => own,
                };
                Value::String(text.chars().enumerate().map(sign).collect())
            };
            let count = text.chars().count();
            let cut = text.chars().take(count.saturating_sub(4)).collect();
            vec![
                Value::String(cut),
                flipped(0),
                flipped(count / 2),
                flipped(count.saturating_sub(2)),
            ]
        }
        Value::Number(number) => number.as_u64().map_or(Vec::new(), |own| {
            [own + 1, own.saturating_sub(1), 0, own.saturating_mul(2), u64::MAX]
                .map(Value::from)
                .to_vec()
        }),
        Value::Bool(own) => vec![Value::Bool(!own)],
        Value::Array(list) => {
            let mut all = vec![Value::Array(Vec::new())];
            for (at, own) in list.iter().enumerate() {
                for new in changes(own) {
                    let mut list = list.clone();
                    list[at] = new;
                    all.push(Value::Array(list));
                }
            }
            let mut longer = list.clone();
            longer.extend(list.last().cloned());
            all.push(Value::Array(longer));
            all
        }
        Value::Object(members) => {
            let mut all = Vec::new();
            for (name, own) in members {
                let mut without = members.clone();
                without.remove(name);
                all.push(Value::Object(without));
                for new in changes(own) {
                    let mut members = members.clone();
                    members.insert(name.clone(), new);
                    all.push(Value::Object(members));
                }
            }
            all
        }
        Value::Null => Vec::new(),
    }
}

/// `json` with each of its members in the place of that of `other`, at every depth.
pub fn exchanges(json: &Value, other: &Value) -> Vec<Value> {
    let (Value::Object(own), Value::Object(others)) = (json, other) else {
        return vec![other.clone()];
    };
    let mut all = vec![other.clone()];
    for (name, member) in own {
        let Some(other) = others.get(name).filter(|other| *other != member) else {
            continue;
        };
        for new in exchanges(member, other) {
            let mut members = own.clone();
            members.insert(name.clone(), new);
            all.push(Value::Object(members));
        }
    }
    all
}

/// All that may become of bytes: bits turned all over them, an end that is cut off, bytes more.
pub fn turned(bytes: &[u8], step: usize) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = (0..bytes.len())
        .step_by(step)
        .chain([bytes.len() - 1])
        .map(|place| {
            let mut bytes = bytes.to_vec();
            bytes[place] ^= 0x10;
            bytes
        })
        .collect();
    all.push(bytes[..bytes.len() - 1].to_vec());
    all.push(Vec::new());
    all.push([bytes, &[0]].concat());
    all
}
