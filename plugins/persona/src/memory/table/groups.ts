import type { Memory } from '../types.js';

/** The ids of memories by what they have in common. */
export interface Groups {
  add(memory: Memory): void;
  remove(memory: Memory): void;
  from(messageId: string): Iterable<string>;
  about(subject: string): Iterable<string>;
  onAttribute(subject: string, attribute: string): Iterable<string>;
  supersededBy(id: string): Iterable<string>;
  duplicatesOf(id: string): Iterable<string>;
  restingOn(id: string): Iterable<string>;
}

export function createGroups(): Groups {
  const groups = new Map<string, Set<string>>();
  const idsOf = (key: string): Iterable<string> => groups.get(key) ?? [];

  return {
    add(memory) {
      for (const key of keysOf(memory)) {
        const group = groups.get(key);
        if (group === undefined) groups.set(key, new Set([memory.id]));
        else group.add(memory.id);
      }
    },
    remove(memory) {
      for (const key of keysOf(memory)) {
        const group = groups.get(key);
        group?.delete(memory.id);
        if (group?.size === 0) groups.delete(key);
      }
    },
    from: (messageId) => idsOf(`message ${messageId}`),
    about: (subject) => idsOf(`subject ${subject}`),
    onAttribute: (subject, attribute) => idsOf(attributeKey(subject, attribute)),
    supersededBy: (id) => idsOf(`superseded ${id}`),
    duplicatesOf: (id) => idsOf(`duplicate ${id}`),
    restingOn: (id) => idsOf(`evidence ${id}`),
  };
}

function* keysOf({ subject, attribute, messageId, supersededBy, duplicateOf, evidence }: Memory): Generator<string> {
  yield `subject ${subject}`;
  if (attribute !== null) yield attributeKey(subject, attribute);
  if (messageId !== null) yield `message ${messageId}`;
  if (supersededBy !== null) yield `superseded ${supersededBy}`;
  if (duplicateOf !== null) yield `duplicate ${duplicateOf}`;
  for (const { id, messageId: source } of evidence) {
    yield `evidence ${id}`;
    if (source !== null) yield `message ${source}`;
  }
}

const attributeKey = (subject: string, attribute: string) => `attribute ${attribute}\n${subject}`;
