import { type Plugin, z } from '@cinnabar/sdk';

/** What of a version can be compared with another. */
export interface Visible {
  readonly definition: Plugin;
  /** Labels of what its `setup` registered. */
  readonly registered: readonly string[];
}

/** What is different for people: "command roll added", "setting greeting removed", "intent GuildMembers added". */
export function changesBetween(before: Visible, after: Visible): readonly string[] {
  return [
    ...countChanges(before.registered, after.registered),
    ...settingChanges(settingsOf(before.definition), settingsOf(after.definition)),
    ...countChanges(intentsOf(before.definition), intentsOf(after.definition)),
  ];
}

function countChanges(before: readonly string[], after: readonly string[]): readonly string[] {
  return [...new Set([...before, ...after])].flatMap((label) => {
    const difference = count(after, label) - count(before, label);
    return Array.from({ length: Math.abs(difference) }, () => `${label} ${difference > 0 ? 'added' : 'removed'}`);
  });
}

function count(labels: readonly string[], wanted: string): number {
  return labels.filter((label) => label === wanted).length;
}

function intentsOf({ manifest }: Plugin): readonly string[] {
  return (manifest.intents ?? []).map((intent) => `intent ${intent}`);
}

/** Each setting's JSON Schema by its label. */
function settingsOf({ settings }: Plugin): ReadonlyMap<string, string> {
  const fields = Object.values(settings).flatMap((schema) => Object.entries(schema?.shape ?? {}));
  return new Map(fields.map(([key, field]) => [`setting ${key}`, describe(field)]));
}

function describe(field: z.core.$ZodType): string {
  return JSON.stringify(z.toJSONSchema(field, { unrepresentable: 'any' }));
}

function settingChanges(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): readonly string[] {
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((label) => {
    if (!before.has(label)) return `${label} added`;
    if (!after.has(label)) return `${label} removed`;
    return before.get(label) === after.get(label) ? [] : `${label} changed`;
  });
}
