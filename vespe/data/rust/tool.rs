// This is your tool, in Rust. You need to know little of Rust to change it:
//
//   1. Change the function below. `inputs` holds what the schema in config.json declares; the schema was checked already.
//   2. `vespe tool build TOOL_NAME` compiles it to tool.wasm, which is what runs. Build again after each change.
//   3. `vespe tool run TOOL_NAME --help` shows what it takes, `vespe tool run TOOL_NAME text="a b"` calls it.
//
// An input by its name:  inputs.text("text")?     a string, &str          inputs.integer("count")?   a whole number, i64
//                        inputs.number("price")?  any number, f64         inputs.flag("deep")?       true or false, bool
//                        inputs.list("items")?    a list of Json          inputs.has("count")        was it given at all?
// `?` after a value means: where it is not there, stop here, and that is the tool's error.
//
// A result is anything that JSON can say:
//     Ok("a string".into())      Ok(42.into())      Ok(object([("name", "Ann".into()), ("age", 30.into())]))
// An error of your own, which the model reads:  return Err("there is no such city".to_string());
// What you print with eprintln!("...") is the tool's log. A tool reaches no network, and no files but those of its permissions.

use crate::vespe::{object, Json};

pub fn TOOL_FUNCTION(inputs: &Json) -> Result<Json, String> {
    let text = inputs.text("text")?;
    Ok(object([
        ("characters", text.chars().count().into()),
        ("words", text.split_whitespace().count().into()),
        ("lines", text.lines().count().into()),
    ]))
}
