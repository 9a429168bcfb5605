import { CinnabarError, type Plugin, SETTING_SCOPES, z } from '@cinnabar/sdk';
import { GatewayIntentBits, PermissionFlagsBits } from 'discord.js';
// One by one: the package's index loads four times as much.
import satisfies from 'semver/functions/satisfies.js';
import valid from 'semver/functions/valid.js';
import validRange from 'semver/ranges/valid.js';

const token = z.object({ kind: z.literal('token'), id: z.string().min(1) });
const named = (names: object) => z.array(z.string().refine((name) => name in names, 'there is no such name'));

/** The parts of a plugin that a program without types could get wrong. */
const pluginSchema = z.object({
  kind: z.literal('cinnabar-plugin'),
  manifest: z.object({
    id: z.string().regex(/^[a-z][a-z0-9-]{0,31}$/, 'lower case letters, digits and hyphens, starting with a letter'),
    version: z.string().refine((version) => valid(version) !== null, 'expected a semantic version such as 1.0.0'),
    description: z.string().min(1),
    host: z
      .string()
      .refine((range) => validRange(range) !== null, 'expected a version range such as ^0.1.0')
      .optional(),
    intents: named(GatewayIntentBits).optional(),
    hosts: z.array(z.string().min(1).max(253)).max(100).optional(),
    permissions: named(PermissionFlagsBits).optional(),
    administrative: z.boolean().optional(),
    optionalIntents: named(GatewayIntentBits).optional(),
    disabling: z.string().min(1).optional(),
  }),
  settings: z.partialRecord(z.enum(SETTING_SCOPES), z.instanceof(z.ZodObject)),
  collections: z.record(
    z.string(),
    z.object({
      scope: z.enum([...SETTING_SCOPES, 'message']),
      schema: z.instanceof(z.ZodObject),
      version: z.int().positive(),
    }),
  ),
  inject: z.record(z.string(), z.union([token, z.object({ kind: z.literal('optional'), token })])),
  provides: z.array(token),
  env: z.instanceof(z.ZodObject).optional(),
  configuration: z.instanceof(z.ZodObject).optional(),
  setup: z.custom((value) => typeof value === 'function', 'expected a function'),
});

/**
 * Checks what an entry file exports.
 * @param place names the plugin in errors: its folder
 * @throws CINNABAR_PLUGIN_INVALID, CINNABAR_PLUGIN_HOST_VERSION
 */
export function validatePlugin(exported: unknown, place: string, hostVersion: string): Plugin {
  const plugin = defaultExport(exported);
  const fail = (detail: string) => new CinnabarError('CINNABAR_PLUGIN_INVALID', { place, detail });
  if (!isDefined(plugin)) throw fail('its default export is not what definePlugin(…) returns');

  const checked = pluginSchema.safeParse(plugin);
  if (!checked.success) throw fail(sentence(checked.error));
  const { id, host } = plugin.manifest;
  if (host !== undefined && !satisfies(hostVersion, host, { includePrerelease: true })) {
    throw new CinnabarError('CINNABAR_PLUGIN_HOST_VERSION', { plugin: id, wanted: host, actual: hostVersion });
  }
  for (const scope of SETTING_SCOPES) {
    const wrong = missingDefault(plugin.settings[scope]);
    if (wrong !== undefined) throw fail(`its ${scope} setting ${wrong} needs a default, or must be optional`);
  }
  return plugin;
}

function defaultExport(exported: unknown): unknown {
  return typeof exported === 'object' && exported !== null && 'default' in exported ? exported.default : exported;
}

function isDefined(value: unknown): value is Plugin {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'cinnabar-plugin';
}

/** The first field that an empty document does not satisfy. */
function missingDefault(schema: z.ZodObject | undefined): string | undefined {
  const parsed = schema?.safeParse({});
  if (parsed === undefined || parsed.success) return undefined;
  return `"${parsed.error.issues[0]?.path.join('.')}"`;
}

function sentence({ issues }: z.ZodError): string {
  const [first] = issues;
  return first === undefined ? 'it is malformed' : `${first.path.join('.')} is not right: ${first.message}`;
}
