import { parseListen } from '@cinnabar/sdk';
import { z } from 'zod';
import { LEVELS } from '../observability/entry.js';

export const LISTEN_RULE = 'must be off, a port such as 9464, or host:port';

const pluginsPart = z.strictObject({
  folders: z.array(z.string()).optional().describe('Folders whose subfolders are plugins'),
  disabled: z.array(z.string()).optional().describe('Plugins that are not loaded at start, by id'),
});

const host = z.strictObject({
  prefixes: z
    .array(z.string().min(1).max(10))
    .min(1)
    .max(10)
    .optional()
    .describe('What commands start with, until a guild chooses its own'),
  owners: z
    .array(z.string('must be text: put the id in quotes').regex(/^\d{15,22}$/, 'must be a Discord user id'))
    .optional()
    .describe('Bot owners by user id, in quotes; none: the owner or team of the application'),
  discordApi: z.url().optional().describe('A REST proxy or a Discord-compatible server, instead of Discord itself'),
  logLevel: z
    .enum(LEVELS)
    .optional()
    .describe('Least level that is logged; trace has the bodies of requests to models'),
  logMegabytes: z
    .int()
    .min(10)
    .max(1_000_000)
    .optional()
    .describe('The most that all log files may take together, in megabytes: the oldest are removed. By default 500'),
  ledger: z
    .strictObject({
      days: z.int().min(1).max(3_650).default(30),
      calls: z.int().min(100).max(1_000_000).default(10_000),
    })
    .optional()
    .describe('How long, and how many, ended tool calls stay in the ledger: 30 days and 10,000 by default'),
  plugins: pluginsPart.optional(),
  monitoring: z
    .strictObject({
      listen: z
        .union([z.string(), z.int()], LISTEN_RULE)
        .transform(String)
        .refine((value) => parseListen(value) !== undefined, LISTEN_RULE)
        .optional()
        .describe('Where /healthz, /readyz and /metrics are served: off, a port (of this machine only), or host:port'),
    })
    .optional(),
});

/** The keys of `shared.yaml` that are the host's own. Every key has a comment in `config/shared.yaml`. */
export const hostPartSchema = z.strictObject({
  host: host
    .optional()
    .describe(
      "The host itself; read at start. A bot's own file sets prefixes, owners, logLevel, plugins.disabled and monitoring",
    ),
  settings: z
    .record(z.string(), z.record(z.string(), z.unknown()))
    .optional()
    .describe("Values for plugins' global settings, by plugin, until an owner sets others with `!set`; read at start"),
});
export type HostPart = z.output<typeof hostPartSchema>;

/** The host's keys that `bots/{bot}.yaml` may have: what each process has of its own. */
export const ownPartSchema = z.strictObject({
  host: host
    .pick({ prefixes: true, owners: true, logLevel: true, monitoring: true })
    .extend({ plugins: pluginsPart.pick({ disabled: true }).optional() })
    .optional(),
});
