import { type Directory, type Naming, namingsIn, type Token, tokensOf } from './names.js';

const OWN: ReadonlySet<string> = new Set("i i'm im i've ive i'd i'll my mine me myself".split(' '));
/** "I think that Anna …" is about Anna. */
const REPORTING: ReadonlySet<string> = new Set(
  'think guess heard hear believe know bet remember read saw suppose assume noticed'.split(' '),
);
/** What follows somebody who is called, not told of; "Anna, could you …" without the comma, too. */
const ADDRESSING: ReadonlySet<string> = new Set([...OWN, 'you', 'your', 'please', 'thanks']);
const ASKING: ReadonlySet<string> = new Set('do did can could would will are were have'.split(' '));

/**
 * Whom a sentence is about, where the speaker does not say: the one person whom it names, unless the speaker speaks of themselves before
 * ("I met Anna"; but "I heard that Anna …" is about Anna). A name that calls somebody ("Anna, I …") says nothing, nor does one that several
 * people bear. In doubt it is about the speaker.
 */
export function subjectOf(text: string, speaker: string, directory: Directory): string {
  const tokens = tokensOf(text);
  const told = namingsIn(tokens, directory).filter((naming) => !isCalled(tokens, naming));
  const [first] = told;
  const [only, ...others] = first?.userIds ?? [];
  if (first === undefined || only === undefined || others.length > 0) return speaker;
  return speaksOfOneself(tokens.slice(0, first.at)) ? speaker : only;
}

function speaksOfOneself(before: readonly Token[]): boolean {
  return before.some(
    ({ lower }, index) => OWN.has(lower.replace('’', "'")) && !REPORTING.has(before[index + 1]?.lower ?? ''),
  );
}

/** "Anna, …", "Anna: …", "Anna I …", "…, Anna". */
function isCalled(tokens: readonly Token[], { at, length }: Naming): boolean {
  const last = tokens[at + length - 1];
  if (last === undefined) return false;
  const next = tokens[at + length];
  if (next === undefined) return tokens[at - 1]?.after === ',';
  if (tokens[at]?.initial !== true) return false;
  if (/[,:]/.test(last.after) || ADDRESSING.has(next.lower)) return true;
  return ASKING.has(next.lower) && tokens[at + length + 1]?.lower === 'you';
}
