//! The page in a real browser: no errors, tables that sort, values where the pointer is, dark paper, a phone's width, print.
//!
//! Chromium is driven through chromedriver. Where they are not there the test says so and is skipped, unless the variable
//! DOLMEN_BROWSER asks for them (`make test-page`); a folder named there keeps the screenshots.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails by panicking, and says where it was skipped"
)]

mod driver;

use dolmen::recipe::Recipe;
use dolmen::run::Run;
use dolmen::table::{Categories, Column, Table};
use dolmen_report::{PageOptions, Subject, page};
use driver::Browser;
use serde_json::json;

/// A number between 0 and 1 that looks random.
fn noise(i: usize, stream: usize) -> f64 {
    ((i * 7919 + stream * 104_729 + 13) % 997) as f64 / 997.0
}

/// The page of a small regression.
fn made() -> String {
    let number = |stream: usize| (0..200).map(|i| noise(i, stream)).collect::<Vec<f64>>();
    let (a, b) = (number(1), number(2));
    let y: Vec<f64> = (0..200).map(|i| 3.0 * a[i] + b[i] * b[i] + 0.2 * noise(i, 3)).collect();
    let columns = [("a", a), ("b", b), ("y", y)].map(|(n, v)| (n.to_string(), Column::Numeric(v)));
    let table = Table::new(columns.into()).unwrap();
    let recipe = "target = 'y'\nmembers = ['ridge', 'tree', 'neighbours', 'mean']\nexplain = true";
    let fit = Recipe::from_toml(recipe).unwrap().fit(&table, &Run::new(0)).unwrap();
    page(&Subject::of(&fit.model), &PageOptions::default()).unwrap()
}

/// The page of five classes, whose reliability is a plot for each.
fn of_classes() -> String {
    let number = |stream: usize| (0..300).map(|i| noise(i, stream)).collect::<Vec<f64>>();
    let (a, b) = (number(1), number(2));
    let class = |i: usize| format!("class {}", (5.0 * (0.9 * a[i] + 0.1 * b[i])) as usize);
    let classes: Vec<String> = (0..300).map(class).collect();
    let columns = vec![
        ("a".to_string(), Column::Numeric(a.clone())),
        ("b".to_string(), Column::Numeric(b.clone())),
        (
            "class".to_string(),
            Column::Categorical(Categories::new(classes.iter().map(|own| Some(own.as_str())))),
        ),
    ];
    let recipe = "target = 'class'\nmembers = ['tree', 'neighbours']";
    let table = Table::new(columns).unwrap();
    let fit = Recipe::from_toml(recipe).unwrap().fit(&table, &Run::new(0)).unwrap();
    page(&Subject::of(&fit.model), &PageOptions::default()).unwrap()
}

#[test]
fn the_page_works_in_a_browser() {
    let asked = std::env::var_os("DOLMEN_BROWSER");
    let Some(mut browser) = Browser::start() else {
        let missing =
            "chromium and chromedriver are needed: apt-get install chromium chromium-driver";
        assert!(asked.is_none(), "{missing}");
        eprintln!("skipped: {missing}");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let kept = asked
        .filter(|kept| kept.len() > 1)
        .map_or_else(|| folder.path().into(), std::path::PathBuf::from);
    let file = folder.path().join("page.html");
    std::fs::write(&file, made()).unwrap();
    browser.open(&format!("file://{}", file.display()));
    assert_eq!(browser.script("return document.querySelectorAll('figure svg').length >= 8"), true);

    sorts(&mut browser);
    shows_values(&mut browser);
    shows_values_of_curves(&mut browser);
    browser.screenshot(&kept.join("light.png"));

    let paper = "return getComputedStyle(document.documentElement).backgroundColor";
    assert_eq!(browser.script(paper), "rgb(255, 255, 255)");
    let dark = json!({"features": [{"name": "prefers-color-scheme", "value": "dark"}]});
    browser.chrome("Emulation.setEmulatedMedia", &dark);
    assert_eq!(browser.script(paper), "rgb(20, 24, 29)");
    let ink = "return getComputedStyle(document.querySelector('figure svg text')).fill";
    assert_eq!(browser.script(ink), "rgb(232, 234, 237)");
    browser.screenshot(&kept.join("dark.png"));
    browser.chrome("Emulation.setEmulatedMedia", &json!({"features": []}));

    let phone = json!({"width": 400, "height": 800, "deviceScaleFactor": 2, "mobile": true});
    browser.chrome("Emulation.setDeviceMetricsOverride", &phone);
    let wide = "return document.documentElement.scrollWidth";
    assert_eq!(browser.script(wide), 400, "the page is wider than a phone");
    names_break(&mut browser);
    browser.screenshot(&kept.join("phone.png"));
    browser.chrome("Emulation.clearDeviceMetricsOverride", &json!({}));

    tables_fit_the_paper(&mut browser);
    let other = folder.path().join("classes.html");
    std::fs::write(&other, of_classes()).unwrap();
    browser.open(&format!("file://{}", other.display()));
    panels_are_seen(&mut browser);
    browser.open(&format!("file://{}", file.display()));
    let pdf = browser.print();
    assert!(pdf.starts_with(b"%PDF") && pdf.len() > 20_000, "{} bytes", pdf.len());
    std::fs::write(kept.join("page.pdf"), pdf).unwrap();
    assert_eq!(browser.console(), Vec::<String>::new());
}

/// A click on a column's name sorts by it, another the other way around.
fn sorts(browser: &mut Browser) {
    let first = "return document.querySelector('#members tbody th').textContent";
    let click = |browser: &mut Browser, column: usize| {
        browser.script(&format!(
            "document.querySelectorAll('#members thead button')[{column}].click()"
        ));
    };
    let weights = "return [...document.querySelectorAll('#members tbody tr')].map(r => Number(r.cells[1].dataset.v))";
    click(browser, 0);
    assert_eq!(browser.script(first), "mean");
    click(browser, 0);
    assert_eq!(browser.script(first), "tree");
    for is_rising in [false, true] {
        click(browser, 1);
        let values: Vec<f64> = serde_json::from_value(browser.script(weights)).unwrap();
        assert!(
            values.len() == 4
                && values.is_sorted_by(|a, b| if is_rising { a <= b } else { a >= b }),
            "{values:?}"
        );
    }
    let named =
        "return document.querySelectorAll('#members thead th')[1].getAttribute('aria-sort')";
    assert_eq!(browser.script(named), "ascending");
}

/// Each of the small plots of a picture is seen, at a place of its own, on a window and on a phone; and letters can be read there.
fn panels_are_seen(browser: &mut Browser) {
    let places = "const shown = [...document.querySelectorAll('#picture-reliability > svg')].filter(own => own.checkVisibility());
        const inner = shown.flatMap(own => [...own.querySelectorAll('svg')]).map(own => own.getBoundingClientRect());
        return [shown.length, ...new Set(inner.filter(own => own.width > 50 && own.height > 50)
            .map(own => Math.round(own.x) + ' ' + Math.round(own.y)))]";
    let smallest = "return Math.min(...[...document.querySelectorAll('figure.both > svg')].filter(own => own.checkVisibility())
        .map(own => 12 * own.getBoundingClientRect().width / own.viewBox.baseVal.width))";
    for (width, is_phone) in [(1200, false), (400, true)] {
        let size =
            json!({"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": is_phone});
        browser.chrome("Emulation.setDeviceMetricsOverride", &size);
        let seen = browser.script(places);
        let seen = seen.as_array().unwrap();
        assert_eq!(seen[0], 1, "one picture at {width}");
        assert_eq!(seen.len(), 6, "a plot for each class at {width}: {seen:?}");
        let letters = browser.script(smallest).as_f64().unwrap();
        assert!(letters >= 11.0, "letters of {letters} pixels at {width}");
    }
    browser.chrome("Emulation.clearDeviceMetricsOverride", &json!({}));
}

/// A long name without blanks breaks: it would lie over the numbers beside it.
fn names_break(browser: &mut Browser) {
    let over = "const name = document.querySelector('#members tbody th'), text = name.textContent;
        name.textContent = 'a_member_with_a_very_long_name_that_goes_on_and_on'.repeat(3);
        const wide = [name.scrollWidth, name.clientWidth]; name.textContent = text; return wide";
    let [text, cell]: [f64; 2] = serde_json::from_value(browser.script(over)).unwrap();
    assert!(text <= cell, "{text} in {cell}");
}

/// A table of nine columns, as many as those of new rows have, is no wider than a sheet of paper.
fn tables_fit_the_paper(browser: &mut Browser) {
    let sheet = json!({"width": 700, "height": 1000, "deviceScaleFactor": 1, "mobile": false});
    browser.chrome("Emulation.setDeviceMetricsOverride", &sheet);
    browser.chrome("Emulation.setEmulatedMedia", &json!({"media": "print"}));
    let widths =
        "const row = document.querySelectorAll('#members tr'), table = row[0].closest('table');
        const before = table.innerHTML;
        for (const own of row) for (let k = 0; k < 3; k++) own.append(own.cells[4].cloneNode(true));
        const wide = [table.getBoundingClientRect().width, document.body.clientWidth];
        table.innerHTML = before; return wide";
    let [table, paper]: [f64; 2] = serde_json::from_value(browser.script(widths)).unwrap();
    assert!(table <= paper, "{table} on {paper}");
    browser.chrome("Emulation.setEmulatedMedia", &json!({"media": ""}));
    browser.chrome("Emulation.clearDeviceMetricsOverride", &json!({}));
}

/// Where the pointer rests on a mark its value is shown.
fn shows_values(browser: &mut Browser) {
    let at = "const mark = document.querySelector('#picture-weights [data-tip]'); mark.scrollIntoView({block: 'center'});
        const box = mark.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]";
    let place: [f64; 2] = serde_json::from_value(browser.script(at)).unwrap();
    let moved = json!({"type": "mouseMoved", "x": place[0], "y": place[1]});
    browser.chrome("Input.dispatchMouseEvent", &moved);
    let tip = browser.script(
        "const tip = document.getElementById('tip'); return tip.hidden ? '' : tip.textContent",
    );
    assert!(tip.as_str().unwrap().contains("weight"), "{tip}");
}

/// Where the pointer is on a plot the values of its curves are shown, and a line through them.
fn shows_values_of_curves(browser: &mut Browser) {
    let at = "const svg = document.querySelector('#picture-dependence svg'); svg.scrollIntoView({block: 'center'});
        const box = svg.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]";
    let place: [f64; 2] = serde_json::from_value(browser.script(at)).unwrap();
    let moved = json!({"type": "mouseMoved", "x": place[0], "y": place[1]});
    browser.chrome("Input.dispatchMouseEvent", &moved);
    // Between the points of a curve its line is told, beyond its ends nothing.
    let between = browser.script("return valueAt({x: [0, 1, 3], y: [0, 10, 20]}, 0.25, false)");
    assert_eq!(between.as_f64(), Some(2.5));
    let beyond = browser.script("return valueAt({x: [0, 1], y: [0, 10]}, 1.5, false)");
    assert!(beyond.is_null(), "{beyond}");
    let held = browser.script("return valueAt({x: [0, 5, 5, 9], y: [1, 1, 2, 2]}, 4, false)");
    assert_eq!(held.as_f64(), Some(1.0), "on a step");
    let tip = browser.script("return document.getElementById('tip').textContent");
    let told = tip.as_str().unwrap();
    assert!(told.contains("mean prediction: ") && told.contains('\n'), "{told}");
    let line =
        "return document.querySelector('#picture-dependence .cross').getAttribute('visibility')";
    assert_eq!(browser.script(line), "visible");
}
