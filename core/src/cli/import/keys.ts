/** Keys of other programs that are called differently here, by their folded name (see `foldKey`). */
const RENAMED: Readonly<Record<string, string>> = {
  continuationmaxtokens: 'maxTokens',
  enginescomplete: 'continuationModel',
  promptmaxtokens: 'maxContextTokens',
  totalmaxtokens: 'maxContextTokens',
  imagelimitsmaximages: 'maxImages',
  samplingtemperature: 'temperature',
  samplingtopp: 'topP',
};

/** Groups whose keys stand at the top level here. */
const GROUPS = ['sampling', 'imagelimits', 'em'];

/** `continuation_model`, `continuation-model` and `continuationModel` are one key. */
export function foldKey(key: string): string {
  return key.replace(/[_.-]/g, '').toLowerCase();
}

/** The key here that another program's key stands for. */
export function keyHere(theirs: string, known: readonly string[]): string | undefined {
  const folded = foldKey(theirs);
  return RENAMED[folded] ?? known.find((key) => foldKey(key) === folded);
}

/**
 * All keys of a file side by side: those in groups, and those of its Discord interface. What is `em.name` in one file is `name` in another.
 */
export function flatten(
  values: Readonly<Record<string, unknown>>,
): readonly (readonly [key: string, value: unknown])[] {
  return Object.entries(values).flatMap(([key, value]) => {
    const folded = foldKey(key);
    if (folded === 'interfaces' && Array.isArray(value)) return value.flatMap(discordPart);
    if (!isGroup(value) || !GROUPS.includes(folded)) return [[key, value] as const];
    const inside = flatten(value);
    return folded === 'em' ? inside : inside.map(([inner, one]) => [`${key}.${inner}`, one] as const);
  });
}

function discordPart(part: unknown): readonly (readonly [string, unknown])[] {
  if (!isGroup(part)) return [['interfaces', part]];
  const { name, ...others } = part;
  return name === 'discord' ? flatten(others) : [[`interfaces.${String(name)}`, others]];
}

export function isGroup(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
