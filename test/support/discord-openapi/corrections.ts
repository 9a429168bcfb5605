import type { Description } from './validator.js';

/** A correction of the description: where it differs from Discord's documentation, the documentation is right, according to the description's README. */
interface Correction {
  /** Discord's actual behaviour. */
  readonly because: string;
  /** The documentation of that behaviour. */
  readonly see: string;
  /** Corrects the description. @throws when there is no difference any more */
  correct(description: Description): void;
}

export const corrections: readonly Correction[] = [
  {
    because: 'Permissions are sent as strings of digits; the description says integers, for what is parsed as one.',
    see: 'https://discord.com/developers/docs/topics/permissions',
    correct({ paths, components }) {
      const fields = [paths, components].flatMap((part) => [...permissionFields(part)]);
      if (fields.length === 0) throw new Error('no permissions are integers');
      for (const field of fields) field.type = ['integer', 'string', 'null'];
    },
  },
  {
    because: 'The complaints inside a 50035 have codes that are words, such as BASE_TYPE_REQUIRED.',
    see: 'https://discord.com/developers/docs/reference#error-messages',
    correct({ components: { schemas } }) {
      const complaint = {
        type: 'object',
        properties: { code: STRING, message: STRING },
        required: ['code', 'message'],
      };
      replace(schemas, 'InnerErrors', { properties: { _errors: { type: 'array', items: complaint } } });
    },
  },
  {
    because: 'The body of a 429 has a code for some limits only.',
    see: 'https://discord.com/developers/docs/topics/rate-limits#exceeding-a-rate-limit-rate-limit-response-structure',
    correct({ components: { schemas } }) {
      const properties = {
        message: STRING,
        retry_after: { type: 'number' },
        global: { type: 'boolean' },
        code: INTEGER,
      };
      replace(schemas, 'RatelimitedResponse', {
        allOf: [{ type: 'object', properties, required: ['message', 'retry_after', 'global'] }],
      });
    },
  },
  {
    because: 'Lifting a ban takes no body.',
    see: 'https://discord.com/developers/docs/resources/guild#remove-guild-ban',
    correct({ paths }) {
      const body = paths['/guilds/{guild_id}/bans/{user_id}']?.delete?.requestBody;
      if (body === undefined) throw new Error('lifting a ban has no body');
      body.required = false;
    },
  },
  {
    because: 'A bot may change its picture without its name.',
    see: 'https://discord.com/developers/docs/resources/user#modify-current-user',
    correct({ components: { schemas } }) {
      replace(schemas, 'BotAccountPatchRequest', { required: [] });
    },
  },
];

/** Operations that Discord documents, or its clients use, and that the description lacks. */
export const undescribed: ReadonlyMap<string, string> = new Map([
  // https://discord.com/developers/docs/reference#signed-attachment-cdn-urls names the signature; this is how Discord's clients renew it.
  ['POST /attachments/refresh-urls', 'renews the links of attachments'],
  // https://discord.com/developers/docs/topics/oauth2#authorization-code-grant; the description contains only its address, in the security schemes.
  ['POST /oauth2/token', 'exchanges the code of a person who agreed'],
]);

const STRING = { type: 'string' };
const INTEGER = { type: 'integer' };

function replace(schemas: Description['components']['schemas'], name: string, changes: object): void {
  const schema = schemas[name];
  if (schema === undefined) throw new Error(`there is no ${name}`);
  Object.assign(schema, changes);
}

const PERMISSIONS = new Set(['permissions', 'default_member_permissions', 'allow', 'deny']);

/** The schemas of integer fields with permissions, anywhere in a part of the description. */
function* permissionFields(part: object): Generator<{ type: unknown }> {
  for (const [name, value] of Object.entries(part)) {
    if (!isObject(value)) continue;
    if (PERMISSIONS.has(name) && 'type' in value && Array.isArray(value.type) && value.type.includes('integer')) {
      yield value;
    } else yield* permissionFields(value);
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
