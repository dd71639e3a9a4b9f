import assert from "node:assert/strict";
import { test } from "node:test";
import { Cleaner, clean, oneLine, unlinked } from "../src/clean";
import { commandLine } from "../src/shell";
import { age, clock, count, cut, json, shortPath } from "../src/words";

test("sequences are taken out and the rest stays", () => {
  const cases = [
    ["\x1b[31mred\x1b[0m", "red"],
    ["\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b", "ab"],
    ["\u009b2Ja\u009d52;c;x\u009cb", "ab"],
    ["\x1b(Ba\x1bcb\x1b7", "ab"],
    ["1%\r50%\r\n100%\r\ndone\r", "1%\n50%\n100%\ndone"],
    ["a\tb\x07\x08", "a    b"],
    ["a\u202eb\u0085", "a\ufffdb\ufffd"],
    ["open \x1b[\nnext \x1b]0;\nlast", "open \nnext \nlast"],
    ["東京 e\u0301 😀", "東京 e\u0301 😀"],
  ] as const;
  for (const [text, expected] of cases) assert.equal(clean(text), expected, JSON.stringify(text));
  assert.equal(unlinked("[ls](command:x)\u202e"), "[ls] (command:x)\ufffd");
  assert.equal(oneLine(" a\n\tb\x1b[m "), "a b");
});

test("a text that comes in pieces is cleaned as the whole", () => {
  const whole = "\x1b[31mred\x1b[0m\r\nx\x1b]0;t\x1b\\y\r";
  for (let at = 0; at <= whole.length; at += 1) {
    const cleaner = new Cleaner();
    assert.equal(cleaner.clean(whole.slice(0, at)) + cleaner.clean(whole.slice(at)), clean(whole));
  }
});

test("words for times, paths and numbers", () => {
  const ages = [-5, 0, 59, 60, 86_399, 86_400, 604_800, 31_557_600].map((seconds) => age(1e12, 1e12 - seconds * 1_000));
  assert.deepEqual(ages, ["0s", "0s", "59s", "1m", "23h", "1d", "1w", "1y"]);
  assert.equal(age(0, undefined), "");
  assert.match(clock(1e12, 1e12 - 1e9), /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
  assert.equal(clock(0, Number.NaN), "");
  assert.deepEqual(["/home/me", "/home/me/x", "/home/meadow"].map((path) => shortPath(path, "/home/me/")), ["~", "~/x", "/home/meadow"]);
  assert.equal(count(2, "file"), "2 files");
  assert.equal(cut("a😀b", 2), "a… 3 more characters");
  assert.deepEqual([json("x"), json({ a: 1 }), json(undefined)], ["x", '{"a":1}', ""]);
});

test("a command is typed so that a shell reads back every word, or not at all", () => {
  const typed = (word: string, isWindows = false) => commandLine(["tackroom", word], isWindows);
  assert.equal(typed("claude-code:0a-1"), "tackroom claude-code:0a-1");
  assert.equal(typed("it's $HOME"), "tackroom 'it'\\''s $HOME'");
  assert.equal(typed("~/x"), "tackroom '~/x'");
  for (const word of ["a\nb", "a\u0003b", "\u0015"]) assert.equal(typed(word), undefined);
  assert.equal(typed("C:\\x", true), "tackroom C:\\x");
  assert.equal(typed("a b", true), undefined);
});
