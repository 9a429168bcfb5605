import { readFileSync } from 'node:fs';
import { readYaml, z } from '@cinnabar/sdk';
import type { Findings } from './findings.js';
import { flatten, isGroup, keyHere } from './keys.js';
import { holdsSecret, isSecretKey, withoutVendorSecrets } from './secrets.js';
import type { SourceFile } from './source.js';

/** Schemas by key of everything that can be configured here. */
export type KnownKeys = Readonly<Record<string, z.core.$ZodType>>;

/** A file's values in this project's words. What cannot be mapped, or has no place in a file, goes to `findings`. */
export function convertFile(
  { path, shown, bot, implied = {} }: SourceFile,
  known: KnownKeys,
  findings: Findings,
): Readonly<Record<string, unknown>> {
  const reading = readYaml(readFileSync(path, 'utf8'));
  if (!reading.ok) {
    findings.leftOut(`${shown}:${reading.line}: ${reading.problem}`);
    return {};
  }
  const converted = flatten(reading.values).flatMap(([theirs, value]): readonly (readonly [string, unknown])[] => {
    if (value === null) return [];
    if (theirs === 'vendors' && isGroup(value)) {
      const lineOf = (name: string) => reading.lineOf([theirs, name]);
      return vendorsHere(withoutVendorSecrets(value, shown, findings), known.vendors, (name, problem) =>
        findings.leftOut(`${shown}:${lineOf(name)}: vendors.${name} ${problem}`),
      );
    }
    if (isSecretKey(theirs) || holdsSecret(value)) {
      const variable = theirs.replace(/\W/g, '_').toUpperCase();
      findings.secret(variable, bot === undefined ? '.env' : `.env.${bot}`, `${shown}: ${theirs}`);
      return [];
    }
    const key = keyHere(theirs, Object.keys(known));
    const here = key === undefined ? value : asHere(key, value);
    const problem = problemWith(key === undefined ? undefined : known[key], here);
    if (problem === undefined && key !== undefined) return [[key, here]];
    findings.leftOut(`${shown}:${reading.lineOf(theirs.split('.'))}: ${theirs} ${problem}`);
    return [];
  });
  return converted.length === 0 ? {} : { ...implied, ...Object.fromEntries(converted) };
}

/** The vendors that can be used here, as the one key that they are below. */
function vendorsHere(
  vendors: Readonly<Record<string, unknown>>,
  schema: z.core.$ZodType | undefined,
  leaveOut: (name: string, problem: string) => void,
): readonly (readonly [string, unknown])[] {
  const usable = Object.entries(vendors).filter(([name, vendor]) => {
    const problem = problemWith(schema, { [name]: vendor });
    if (problem !== undefined) leaveOut(name, problem);
    return problem === undefined;
  });
  return usable.length === 0 ? [] : [['vendors', Object.fromEntries(usable)]];
}

function problemWith(schema: z.core.$ZodType | undefined, value: unknown): string | undefined {
  if (schema === undefined) return 'has no counterpart here';
  const [issue] = z.safeParse(schema, value).error?.issues ?? [];
  return issue && `has a value that cannot be used here: ${issue.message}`;
}

/** `reply_on_random: false` was a way to say never. */
function asHere(key: string, value: unknown): unknown {
  return key === 'replyOnRandom' && typeof value === 'boolean' ? Number(value) : value;
}
