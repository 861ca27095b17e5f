use super::*;

/// Keeps count of its calls; copies add 1 to a Fortran integer, and 13 cannot be deleted.
#[derive(Debug, Default)]
struct Counting {
    deleted: Rc<Cell<u32>>,
}

fn integer(value: c_int) -> Value {
    Value::new(value as usize as *mut c_void, Form::Integer)
}

impl KeyvalFunctions for Counting {
    fn copy(&self, keyval: &Keyval, _: Handle, value: &Value) -> Result<Option<Value>> {
        assert_eq!(keyval.kind(), Kind::Datatype);
        let number = value.read(Form::Integer).addr() as c_int;
        Ok((number != 7).then(|| integer(number + 1)))
    }

    fn delete(&self, _: &Keyval, _: Handle, value: &Value) -> Result {
        if value.read(Form::Integer).addr() == 13 {
            return Err(Error::new(99, "refused"));
        }
        self.deleted.set(self.deleted.get() + 1);
        Ok(())
    }
}

fn keyvals() -> (Keyvals, [c_int; 2], Rc<Cell<u32>>) {
    let (keyvals, deleted) = (Keyvals::default(), Rc::default());
    let add = || keyvals.add(Kind::Datatype, Box::new(Counting { deleted: Rc::clone(&deleted) }));
    let numbers = [add(), add()];
    (keyvals, numbers, deleted)
}

#[test]
fn a_copy_has_the_values_that_the_functions_give() {
    let (keyvals, [one, other], deleted) = keyvals();
    let attributes = Attributes::default();
    let keyval = |number| keyvals.get(Kind::Datatype, number).unwrap();
    attributes.set(0, keyval(one), integer(3)).unwrap();
    attributes.set(0, keyval(other), integer(7)).unwrap();
    let copies = attributes.copies(0).unwrap();
    let number = |attributes: &Attributes, keyval| {
        attributes.get(keyval).map(|value| value.read(Form::Integer).addr())
    };
    assert_eq!((number(&copies, one), number(&copies, other)), (Some(4), None));
    assert_eq!((number(&attributes, one), deleted.get()), (Some(3), 0));
    attributes.set(0, keyval(one), integer(5)).unwrap();
    assert_eq!((number(&attributes, one), deleted.get()), (Some(5), 1));
}

#[test]
fn a_value_that_is_not_deleted_stays_with_those_before() {
    let (keyvals, [one, other], deleted) = keyvals();
    let attributes = Attributes::default();
    let third = keyvals.add(Kind::Datatype, Box::new(Counting::default()));
    for (number, value) in [(one, 1), (other, 13), (third, 2)] {
        attributes.set(0, keyvals.get(Kind::Datatype, number).unwrap(), integer(value)).unwrap();
    }
    assert_eq!(attributes.clear(0).unwrap_err().code, 99);
    let there = [one, other, third].map(|number| attributes.get(number).is_some());
    assert_eq!((there, deleted.get()), ([true, true, false], 0));
    assert_eq!(attributes.delete(0, other).unwrap_err().code, 99);
    assert!(attributes.delete(0, one).is_ok() && attributes.get(one).is_none());
}

/// A keyval that is freed is no keyval any more, but lives as long as an attribute of it does.
#[test]
fn freed_keyvals() {
    let (keyvals, [one, other], deleted) = keyvals();
    let attributes = Attributes::default();
    attributes.set(0, keyvals.get(Kind::Datatype, one).unwrap(), integer(1)).unwrap();
    assert_eq!(keyvals.get(Kind::Comm, one).unwrap_err().code, abi::ERR_KEYVAL);
    keyvals.free(Kind::Datatype, one).unwrap();
    assert_eq!(keyvals.get(Kind::Datatype, one).unwrap_err().code, abi::ERR_KEYVAL);
    keyvals.free(Kind::Datatype, one).unwrap();
    attributes.clear(0).unwrap();
    assert_eq!(deleted.get(), 1);
    assert_eq!(keyvals.free(Kind::Datatype, one).unwrap_err().code, abi::ERR_KEYVAL);
    keyvals.free(Kind::Datatype, other).unwrap();
    assert_eq!(keyvals.free(Kind::Datatype, other).unwrap_err().code, abi::ERR_KEYVAL);
    let number = keyvals.add(Kind::Datatype, Box::new(Counting::default()));
    assert!(number > other, "numbers do not come again");
}

/// C reads an integer of Fortran as its address, Fortran a pointer as an integer.
#[test]
fn languages_read_each_others_values() {
    let of_fortran = integer(-5);
    let address = of_fortran.read(Form::Pointer).cast::<c_int>();
    // SAFETY: the place of the integer, which lives as long as the value.
    assert_eq!(unsafe { *address }, -5);
    assert_eq!(of_fortran.read(Form::Address).addr() as isize, -5);
    let word = 0x1234_usize as *mut c_void;
    assert_eq!(Value::new(word, Form::Pointer).read(Form::Integer), word);
    assert_eq!(Value::new(word, Form::Address).read(Form::Address), word);
}
