fn order_drink(drink: String, size: String) -> String {
    format!("a {size} {drink}")
}
