import { z } from 'zod';
import { type AccessRule, EVERYTHING, RULE_TARGETS } from './access.js';
import { UserError } from './errors.js';
import { t } from './text/language.js';
import { readYaml, writeYaml } from './text/yaml.js';

/** Those of a guild's own rules. */
const SUBJECTS = [
  'user',
  'role',
  'channel',
  'category',
  'everyone',
] as const satisfies readonly AccessRule['subject']['kind'][];

const name = z.string().trim().toLowerCase().min(1).max(150);
/** An id without quotes is a number in YAML, and too large for one. */
const subject = z.string({ error: 'names are text, and ids stand in quotes' }).trim().min(1).max(100);

/** A rule as it stands in a file: its effect, one of `everything`, `plugin`, `command` and `tool`, and one of `user`, `role`, `channel`, `category` and `everyone`. */
export const fileRuleSchema = z.strictObject({
  effect: z.enum(['allow', 'deny']),
  everything: z.literal(true).optional(),
  plugin: name.optional(),
  command: name.optional(),
  tool: name.optional(),
  user: subject.optional(),
  role: subject.optional(),
  channel: subject.optional(),
  category: subject.optional(),
  everyone: z.literal(true).optional(),
});
export type FileRule = z.output<typeof fileRuleSchema>;

/** Something in a file that cannot be used, as a clause. */
export interface FileProblem {
  readonly problem: string;
}

/** What finds a user, role, channel or category by what a file calls it. */
export type FindNamed = (kind: NamedKind, text: string) => { readonly id: string } | FileProblem;
export type NamedKind = 'user' | 'role' | 'channel' | 'category';

/** Finds by id alone. */
export const findById: FindNamed = (_kind, text) =>
  /^\d{15,22}$/.test(text) ? { id: text } : { problem: t('an id has 15 to 22 digits') };

/** The rule that a file's entry means. */
export function ruleFromFile(rule: FileRule, find: FindNamed): AccessRule | FileProblem {
  const targets = RULE_TARGETS.filter((kind) => rule[kind] !== undefined);
  const subjects = SUBJECTS.filter((kind) => rule[kind] !== undefined);
  const [kind] = targets;
  const [whose] = subjects;
  const named = kind === 'everything' ? EVERYTHING.name : kind && rule[kind];
  if (kind === undefined || named === undefined || targets.length > 1)
    return { problem: t('a rule names one of {kinds}', { kinds: RULE_TARGETS.join(', ') }) };
  if (whose === undefined || subjects.length > 1)
    return { problem: t('a rule names one of {kinds}', { kinds: SUBJECTS.join(', ') }) };
  const target = { kind, name: named };
  if (whose === 'everyone') return { effect: rule.effect, target, subject: { kind: whose } };
  const found = find(whose, rule[whose] ?? '');
  return 'problem' in found ? found : { effect: rule.effect, target, subject: { kind: whose, id: found.id } };
}

/** A rule as a file's entry. */
export function ruleForFile({ effect, target, subject: { kind, id } }: AccessRule): FileRule {
  return {
    effect,
    ...(target.kind === 'everything' ? { everything: true } : { [target.kind]: target.name }),
    ...(kind === 'everyone' ? { everyone: true } : { [kind]: id }),
  };
}

/**
 * The access rules of a guild as a YAML file.
 * @param nameOf what an id names now: a comment for the reader
 */
export function writeRules(rules: readonly AccessRule[], nameOf: (id: string) => string | undefined): string {
  return writeYaml({ rules: rules.map(ruleForFile) }, nameOf);
}

const file = z.strictObject({ rules: z.array(fileRuleSchema) });

/** @throws UserError that names the line and what is wrong with it */
export function readRules(text: string, find: FindNamed = findById): readonly AccessRule[] {
  const reading = readYaml(text, { maxBytes: 100_000 });
  if (!reading.ok) {
    const { line, problem } = reading;
    throw new UserError(t('The file cannot be read: line {line}: {problem}. Nothing has changed.', { line, problem }));
  }
  const wrong = (path: readonly PropertyKey[], problem: string) => {
    const line = reading.lineOf(path.filter((part) => typeof part !== 'symbol'));
    return new UserError(t('The file cannot be used: line {line}: {problem}. Nothing has changed.', { line, problem }));
  };
  const parsed = file.safeParse(reading.values);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw wrong(issue?.path ?? [], issue?.message ?? t('it is not a list of rules'));
  }
  return parsed.data.rules.map((entry, index) => {
    const rule = ruleFromFile(entry, find);
    if ('problem' in rule) throw wrong(['rules', index], rule.problem);
    return rule;
  });
}
