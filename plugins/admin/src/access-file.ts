import { type AccessRule, EVERYTHING, oneLine, RULE_TARGETS, readYaml, UserError, z } from '@cinnabar/sdk';

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
const id = z.string({ error: 'ids stand in quotes' }).regex(/^\d{15,22}$/, { error: 'an id has 15 to 22 digits' });
const fileRule = z.strictObject({
  effect: z.enum(['allow', 'deny']),
  everything: z.literal(true).optional(),
  plugin: name.optional(),
  command: name.optional(),
  tool: name.optional(),
  user: id.optional(),
  role: id.optional(),
  channel: id.optional(),
  category: id.optional(),
  everyone: z.literal(true).optional(),
});
const file = z.strictObject({ rules: z.array(fileRule) });

/**
 * The access rules of a guild as YAML: a list of rules, each with its effect, one of `everything`, `plugin`, `command` and `tool`, and one of
 * `user`, `role`, `channel`, `category` and `everyone`.
 * @param nameOf what a subject is called now: a comment for the reader
 */
export function writeRules(
  rules: readonly AccessRule[],
  nameOf: (subject: AccessRule['subject']) => string | undefined,
): string {
  if (rules.length === 0) return 'rules: []\n';
  const entries = rules.map(({ effect, target, subject }) => {
    const called = nameOf(subject);
    const comment = called === undefined ? '' : ` # ${oneLine(called)}`;
    const about =
      subject.kind === 'everyone' ? 'everyone: true' : `${subject.kind}: ${JSON.stringify(subject.id)}${comment}`;
    const what = target.kind === 'everything' ? 'everything: true' : `${target.kind}: ${JSON.stringify(target.name)}`;
    return `  - effect: ${effect}\n    ${what}\n    ${about}\n`;
  });
  return `rules:\n${entries.join('')}`;
}

/** @throws UserError that names the line and what is wrong with it */
export function readRules(text: string): readonly AccessRule[] {
  const reading = readYaml(text, { maxBytes: 100_000 });
  if (!reading.ok)
    throw new UserError(`The file cannot be read: line ${reading.line}: ${reading.problem}. Nothing has changed.`);
  const wrong = (path: readonly PropertyKey[], problem: string) => {
    const key = path.filter((part) => typeof part !== 'symbol');
    return new UserError(`The file cannot be used: line ${reading.lineOf(key)}: ${problem}. Nothing has changed.`);
  };
  const parsed = file.safeParse(reading.values);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw wrong(issue?.path ?? [], issue?.message ?? 'it is not a list of rules');
  }
  return parsed.data.rules.map((rule, index) => {
    const targets = RULE_TARGETS.filter((kind) => rule[kind] !== undefined);
    const subjects = SUBJECTS.filter((kind) => rule[kind] !== undefined);
    const [target] = targets;
    const [subject] = subjects;
    const targetName = target === 'everything' ? EVERYTHING.name : target && rule[target];
    if (target === undefined || targetName === undefined || targets.length > 1) {
      throw wrong(['rules', index], `a rule names one of ${RULE_TARGETS.join(', ')}`);
    }
    if (subject === undefined || subjects.length > 1) {
      throw wrong(['rules', index], `a rule names one of ${SUBJECTS.join(', ')}`);
    }
    return {
      effect: rule.effect,
      target: { kind: target, name: targetName },
      subject: subject === 'everyone' ? { kind: subject } : { kind: subject, id: rule[subject] },
    };
  });
}
