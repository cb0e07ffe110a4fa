fn order_drink(drink: String) -> String {
    match std::env::var("VESPE_ASK_FD") {
        Ok(_) => format!("a large {drink}"),
        Err(_) => format!("a small {drink}"),
    }
}
