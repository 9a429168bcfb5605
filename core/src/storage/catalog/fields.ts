import { optionTraits, type Plugin, SETTING_SCOPES, type SettingScope, z } from '@cinnabar/sdk';
import { type FieldType, fieldTypeOf } from './field-type.js';
import { inWords } from './words.js';

/** One declared setting, with what its schema tells of it. */
export interface Field {
  readonly scope: SettingScope;
  readonly key: string;
  readonly type: FieldType;
  readonly words: string;
  readonly description: string;
  readonly secret: boolean;
  readonly default: unknown;
  /** The author's own ceiling; the owner may set another. */
  readonly ceiling?: number;
  /** The number that means that there is no limit. */
  readonly noLimit?: number;
  /** Whether it names a model: then admins choose among those that the owner allows. */
  readonly isModel: boolean;
  /** `undefined` when the value fits, else the first problem, in zod's words or the author's own. */
  check(value: unknown): { readonly message: string; readonly at: string; readonly custom: boolean } | undefined;
}

const known = new WeakMap<Plugin, readonly Field[]>();

/** A plugin's settings, the widest scope first. */
export function fieldsOf(plugin: Plugin): readonly Field[] {
  const before = known.get(plugin);
  if (before !== undefined) return before;
  const fields = SETTING_SCOPES.flatMap((scope) => {
    const schema = plugin.settings[scope];
    if (schema === undefined) return [];
    const defaults = new Map<string, unknown>(Object.entries(schema.parse({})));
    return Object.entries(schema.shape).map(([key, field]) => describeField(scope, key, field, defaults.get(key)));
  });
  known.set(plugin, fields);
  return fields;
}

function describeField(scope: SettingScope, key: string, schema: z.core.$ZodType, fallback: unknown): Field {
  const json = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }) {
      const kind = optionTraits.get(zodSchema)?.kind;
      if (kind !== undefined) jsonSchema.kind = kind;
    },
  });
  const type = fieldTypeOf(json);
  // Also when only a part of the value is secret: then all of it is.
  const secret = JSON.stringify(json).includes('"secret":true');
  return {
    scope,
    key,
    type,
    words: secret ? `secret ${inWords(type)}` : inWords(type),
    description: json.description ?? '',
    secret,
    default: fallback,
    ...(typeof json.ceiling === 'number' ? { ceiling: json.ceiling } : {}),
    ...(typeof json.noLimit === 'number' ? { noLimit: json.noLimit } : {}),
    isModel: json.model === true,
    check(value) {
      const [issue] = z.safeParse(schema, value).error?.issues ?? [];
      return issue && { message: issue.message, at: issue.path.join('.'), custom: issue.code === 'custom' };
    },
  };
}

/** A value as it may be shown. */
export function shownValue(field: Field, value: unknown): unknown {
  return field.secret ? shownSecret(value) : value;
}

function shownSecret(value: unknown): string {
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  return value === undefined || value === null || value === '' || isEmpty ? '(not set)' : '(set)';
}

/** Which settings of each scope are secret: all that needs to be remembered of a plugin that has stopped. */
export type SecretKeys = ReadonlyMap<SettingScope, ReadonlySet<string>>;

export function secretKeysOf(plugin: Plugin): SecretKeys {
  const secret = fieldsOf(plugin).filter((field) => field.secret);
  return new Map(
    SETTING_SCOPES.map((scope) => [
      scope,
      new Set(secret.filter((field) => field.scope === scope).map((field) => field.key)),
    ]),
  );
}

/** Stored settings of a scope with the secrets taken out. */
export function hideSecrets(secret: SecretKeys, scope: SettingScope, data: unknown): unknown {
  if (typeof data !== 'object' || data === null) return data;
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, secret.get(scope)?.has(key) ? shownSecret(value) : value]),
  );
}
