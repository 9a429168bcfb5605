import { type Actor, CinnabarError } from '@cinnabar/sdk';
import { plainIssue } from '../documents/shape.js';
import type { Field } from './fields.js';
import { expected, parseText } from './parse.js';

const QUOTED = 60;

/**
 * The value that a text means for a setting.
 * @throws CINNABAR_SETTING_INVALID with one sentence on what is wrong
 */
export function valueFrom(field: Field, text: string, actor: Actor): unknown {
  if (field.secret && actor.guildId !== null) {
    throw wrong(field, 'it is secret and others would read it here; use the environment or the owner-only dialog.');
  }
  const parsed = parseText(field.type, text);
  if (!parsed.ok) {
    const hint = parsed.meant === undefined || field.secret ? '.' : `; did you mean ${parsed.meant}?`;
    throw wrong(field, `${parsed.problem}${not(field, text)}${hint}`);
  }
  const problem = field.check(parsed.value);
  if (problem === undefined) return parsed.value;
  if (problem.at !== '') throw wrong(field, sentence(`at ${problem.at}, ${plainIssue(problem.message)}`));
  throw wrong(field, problem.custom ? sentence(problem.message) : `${expected(field.type)}${not(field, text)}.`);
}

function wrong(field: Field, detail: string): CinnabarError {
  return new CinnabarError('CINNABAR_SETTING_INVALID', { key: field.key, detail });
}

/** What was typed, so that it cannot be taken for anything but a quotation; a secret is not repeated. */
function not(field: Field, text: string): string {
  if (field.secret) return '';
  const plain = text
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .replaceAll(/[`@<>"]/g, '')
    .trim();
  const short = plain.length > QUOTED ? `${plain.slice(0, QUOTED)}…` : plain;
  return short === '' ? '' : `, not "${short}"`;
}

function sentence(message: string): string {
  return /[.!?]$/.test(message) ? message : `${message}.`;
}
