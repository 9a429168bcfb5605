import type { z } from '@cinnabar/sdk';
import type { Stored } from '../driver.js';

/**
 * How one kind of document is understood: `T` is what callers see, also when nothing is stored.
 * Pure, so that its result can be kept as long as what is stored stays the same.
 */
export interface Shape<T> {
  /** Given to what is saved. */
  readonly version: number;
  /** @throws InvalidDocument when what is stored is not valid, CINNABAR_DOCUMENT_NEWER when it may not be touched */
  read(stored: Stored | undefined, document: string): T;
}

/** What is stored can be read, but is not what its schema asks for. The message is a clause for people. */
export class InvalidDocument extends Error {
  /** The field that is wrong, when it is one. */
  readonly key: string | undefined;
  constructor(message: string, key?: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'InvalidDocument';
    this.key = key;
  }
}

/** The first thing that a schema finds wrong, with its place: `members.0.name: expected string, received number`. */
export function invalid(cause: z.ZodError): InvalidDocument {
  const [issue] = cause.issues;
  if (issue === undefined) return new InvalidDocument('it does not fit its schema', undefined, { cause });
  const text = plainIssue(issue.message);
  const [key] = issue.path;
  if (key === undefined) return new InvalidDocument(text, undefined, { cause });
  return new InvalidDocument(`${issue.path.join('.')}: ${text}`, String(key), { cause });
}

/** zod's wording without its label: `expected number, received string`. */
export function plainIssue(message: string): string {
  return message.replace(/^(?:Invalid input|Too (?:big|small)|Invalid \w+): /, '');
}
