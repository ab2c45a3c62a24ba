//! What linkers want to know of modules that Node loads.

fn main() {
    napi_build::setup();
}
