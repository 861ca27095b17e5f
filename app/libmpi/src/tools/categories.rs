//! Categories: which variables belong together. They do not change.

use std::ffi::{c_char, c_int};

use super::{control, entry, give, give_text, name, number_of, performance, tools};
use crate::argument::{In, Out};
use crate::error::Result;
use crate::mpi_functions;

struct Category {
    name: &'static str,
    meaning: &'static str,
    controls: &'static [&'static str],
    measures: &'static [&'static str],
}

static CATEGORIES: [Category; 2] = [
    Category {
        name: "messages",
        meaning: "what ranks send to each other",
        controls: &["collectives", "tag_ub"],
        measures: &["messages_sent", "bytes_sent", "messages_received", "bytes_received"],
    },
    Category {
        name: "process",
        meaning: "how a rank runs",
        controls: &["thread_level", "clock_resolution"],
        measures: &["simulated_time"],
    },
];

/// Writes as many numbers as the program has room for.
fn give_numbers(
    place: Out<c_int>,
    room: c_int,
    names: &[&str],
    number: impl Fn(&str) -> Result<c_int>,
) -> Result {
    let numbers = names.iter().map(|name| number(name)).collect::<Result<Vec<_>>>()?;
    place.set_all(numbers.into_iter().take(usize::try_from(room).unwrap_or(0)))
}

mpi_functions! {
    fn T_category_get_num(num_cat: Out<c_int>) {
        tools()?;
        num_cat.set(CATEGORIES.len() as c_int)
    }

    fn T_category_get_index(cat_name: In<c_char>, cat_index: Out<c_int>) {
        tools()?;
        let name = name(cat_name)?;
        cat_index.set(number_of(&CATEGORIES, |category| category.name.as_bytes() == name)?)
    }

    fn T_category_get_info(
        cat_index: c_int, name: Out<c_char>, name_len: Out<c_int>, desc: Out<c_char>,
        desc_len: Out<c_int>, num_cvars: Out<c_int>, num_pvars: Out<c_int>,
        num_categories: Out<c_int>,
    ) {
        tools()?;
        let category = entry(&CATEGORIES, cat_index)?;
        give_text(name, name_len, category.name)?;
        give_text(desc, desc_len, category.meaning)?;
        give(num_cvars, category.controls.len() as c_int)?;
        give(num_pvars, category.measures.len() as c_int)?;
        give(num_categories, 0)
    }

    fn T_category_get_cvars(cat_index: c_int, len: c_int, indices: Out<c_int>) {
        tools()?;
        give_numbers(indices, len, entry(&CATEGORIES, cat_index)?.controls, |name| {
            number_of(&control::VARIABLES, |variable| variable.name == name)
        })
    }

    fn T_category_get_pvars(cat_index: c_int, len: c_int, indices: Out<c_int>) {
        tools()?;
        give_numbers(indices, len, entry(&CATEGORIES, cat_index)?.measures, |name| {
            number_of(&performance::VARIABLES, |variable| variable.name == name)
        })
    }

    fn T_category_get_categories(cat_index: c_int, len: c_int, indices: Out<c_int>) {
        // None has parts.
        let _ = (len, indices);
        tools()?;
        entry(&CATEGORIES, cat_index).map(|_| ())
    }

    fn T_category_get_num_events(cat_index: c_int, num_events: Out<c_int>) {
        tools()?;
        entry(&CATEGORIES, cat_index)?;
        num_events.set(0)
    }

    fn T_category_get_events(cat_index: c_int, len: c_int, indices: Out<c_int>) {
        let _ = (len, indices);
        tools()?;
        entry(&CATEGORIES, cat_index).map(|_| ())
    }

    fn T_category_changed(update_number: Out<c_int>) {
        tools()?;
        update_number.set(0)
    }
}
