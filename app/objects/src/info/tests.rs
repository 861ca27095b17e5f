use super::*;

#[test]
fn keys_keep_the_order_in_which_they_were_set() {
    let mut info = Info::default();
    assert!(info.is_empty());
    info.set(b"colour", b"red");
    info.set(b"size", b"10");
    info.set(b"colour", b"blue");
    assert_eq!(info.keys().collect::<Vec<_>>(), [&b"colour"[..], b"size"]);
    assert_eq!(
        (info.len(), info.get(b"colour"), info.get(b"shape")),
        (2, Some(&b"blue"[..]), None)
    );
    info.remove(b"colour").unwrap();
    assert_eq!(info.remove(b"colour").unwrap_err().code, abi::ERR_INFO_NOKEY);
    assert_eq!(info.keys().collect::<Vec<_>>(), [b"size"]);
}

#[test]
fn hints_are_those_of_the_standard() {
    let mut info = Info::default();
    info.set(b"mpi_assert_no_any_tag", b"true");
    info.set(b"mpi_assert_nothing", b"true");
    assert_eq!(info.hints().keys().collect::<Vec<_>>(), [b"mpi_assert_no_any_tag"]);
    let mut other = Info::default();
    other.set(b"mpi_assert_no_any_tag", b"false");
    info.take_over(other);
    assert_eq!(info.value(b"mpi_assert_no_any_tag").as_deref(), Some(&b"false"[..]));
}

/// `MPI_MAX_INFO_KEY` and `MPI_MAX_INFO_VAL` count the final zero.
#[test]
fn lengths_are_limited() {
    let most = abi::MAX_INFO_KEY as usize - 1;
    assert!(check_key(&vec![b'k'; most]).is_ok());
    assert_eq!(check_key(&vec![b'k'; most + 1]).unwrap_err().code, abi::ERR_INFO_KEY);
    assert_eq!(check_key(b"").unwrap_err().code, abi::ERR_INFO_KEY);
    let most = abi::MAX_INFO_VAL as usize - 1;
    assert!(check_value(&vec![b'v'; most]).is_ok());
    assert_eq!(check_value(&vec![b'v'; most + 1]).unwrap_err().code, abi::ERR_INFO_VALUE);
}

#[test]
fn handles_of_predefined_objects_cannot_be_changed() {
    let infos = Infos::default();
    let handle = infos.add(Info::default());
    infos.own(handle).unwrap().borrow_mut().set(b"key", b"value");
    assert_eq!(infos.own(handle).unwrap().borrow().len(), 1);
    for wrong in [abi::INFO_NULL, abi::INFO_ENV, handle + 1] {
        assert_eq!(infos.own(wrong).unwrap_err().code, abi::ERR_INFO);
        assert_eq!(infos.free(wrong).unwrap_err().code, abi::ERR_INFO);
    }
    infos.free(handle).unwrap();
    assert_eq!(infos.free(handle).unwrap_err().code, abi::ERR_INFO);
}
