import { sanitizeName } from '@cinnabar/sdk';

/** Beside what a transcript is made of: what Markdown and the prompt's own lines are made of. */
const MARKUP = /[*_#~()=]+/gu;
const LEADING = /^[\s\-+.,;!>]+/u;

/** A name that cannot pass for a part of the prompt: one line, without what headings, labels, lists and ids are written with. */
export function safeName(name: string): string {
  return sanitizeName(sanitizeName(name).replace(MARKUP, ' ')).replace(LEADING, '');
}

/** The first of the two in which something readable is left; else the id. */
export function nameOr(name: string, other: string, id: string): string {
  return safeName(name) || safeName(other) || id;
}
