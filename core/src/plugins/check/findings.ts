/** A problem of a plugin's project, or a possible improvement. */
export interface Finding {
  /** An error makes the check fail; a warning does not. */
  readonly level: 'error' | 'warning';
  /** A stable name: `bare-timer`. */
  readonly rule: string;
  /** Path from the project's folder. */
  readonly file?: string;
  readonly line?: number;
  /** The problem, and how to fix it. */
  readonly text: string;
}

/** A finding about the sources: the first line with the text of `seek` is its location. */
export interface Sought extends Finding {
  readonly seek?: string;
}

export const wrong = (rule: string, text: string, at: Omit<Sought, 'level' | 'rule' | 'text'> = {}): Sought => ({
  level: 'error',
  rule,
  text,
  ...at,
});

export const better = (rule: string, text: string, at: Omit<Sought, 'level' | 'rule' | 'text'> = {}): Sought => ({
  level: 'warning',
  rule,
  text,
  ...at,
});

/** `src/index.ts:7: error: … [bare-timer]` */
export function lineOf({ level, rule, file, line, text }: Finding): string {
  const place = file === undefined ? '' : `${file}${line === undefined ? '' : `:${line}`}: `;
  return `${place}${level}: ${text} [${rule}]`;
}
