/**
 * A command as it is typed into a shell; undefined where that cannot be done safely: what a terminal would act on, and on
 * Windows, where each shell quotes in its own way, what needs quotes.
 */
export function commandLine(words: string[], isWindows: boolean): string | undefined {
  const quoted = words.map((word) => {
    if ((isWindows ? /^[\w./:@+,\\-]+$/ : /^[\w./:@+,-]+$/).test(word)) return word;
    if (isWindows || /[\u0000-\u001f\u007f-\u009f]/.test(word)) return undefined;
    return `'${word.replaceAll("'", "'\\''")}'`;
  });
  return quoted.includes(undefined) ? undefined : quoted.join(" ");
}
