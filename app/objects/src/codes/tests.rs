use super::*;

#[test]
fn classes_and_codes_of_the_program_follow_those_of_the_standard() {
    let codes = Codes::default();
    assert_eq!(codes.last_used(), abi::ERR_LASTCODE);
    let class = codes.add_class();
    let code = codes.add_code(class).unwrap();
    let of_standard = codes.add_code(abi::ERR_RANK).unwrap();
    let first = abi::ERR_LASTCODE + 1;
    assert_eq!([class, code, of_standard], [first, first + 1, first + 2]);
    let classes = [class, code, of_standard, abi::ERR_RANK].map(|code| codes.class(code).unwrap());
    assert_eq!(classes, [class, class, abi::ERR_RANK, abi::ERR_RANK]);
    assert_eq!(codes.class(first + 3).unwrap_err().code, abi::ERR_ARG);
    // A code is no class.
    assert_eq!(codes.add_code(code).unwrap_err().code, abi::ERR_ARG);
}

#[test]
fn texts_of_the_program() {
    let codes = Codes::default();
    let class = codes.add_class();
    assert_eq!(codes.text(class).unwrap(), b"");
    codes.set_text(class, b"the coffee is cold".to_vec()).unwrap();
    assert_eq!(codes.text(class).unwrap(), b"the coffee is cold");
    assert_eq!(codes.text(abi::ERR_RANK).unwrap(), b"MPI_ERR_RANK: invalid rank");
    assert_eq!(codes.set_text(abi::ERR_RANK, Vec::new()).unwrap_err().code, abi::ERR_ARG);
}

/// MPI 4.1, section 9.5: a class goes after its codes, and either only without its text. Numbers do
/// not come again.
#[test]
fn removed_in_order() {
    let codes = Codes::default();
    let class = codes.add_class();
    let code = codes.add_code(class).unwrap();
    codes.set_text(code, b"text".to_vec()).unwrap();
    for refused in [codes.remove_code(code), codes.remove_class(class), codes.remove_code(class)] {
        assert_eq!(refused.unwrap_err().code, abi::ERR_ARG);
    }
    codes.set_text(code, Vec::new()).unwrap();
    codes.remove_code(code).unwrap();
    codes.remove_class(class).unwrap();
    assert_eq!(codes.remove_class(class).unwrap_err().code, abi::ERR_ARG);
    assert_eq!(codes.add_class(), code + 1);
}
