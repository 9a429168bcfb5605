import { type Clock, option, type Subcommand, subcommand, UserError } from '@cinnabar/sdk';
import type { ServerReport, Servers } from '../servers/servers.js';
import { inert } from './inert.js';

interface Parts {
  /** `undefined`: none is configured. */
  readonly servers: Servers | undefined;
  readonly clock: Clock;
  /** Where the bot's own tools are offered; `undefined`: nowhere. */
  readonly url: () => string | undefined;
}

/** `!mcp list`, `!mcp tools` and `!mcp restart`, for whoever runs the bot. */
export function serverCommands({ servers, clock, url }: Parts): readonly Subcommand[] {
  const access = { tier: 'botOwner' } as const;
  const report = () => servers?.report() ?? [];
  const serverName = () =>
    option.suggested((typed) =>
      report()
        .filter(({ name }) => name.startsWith(typed))
        .map(({ name }) => ({ name, value: name })),
    );
  return [
    subcommand({
      name: 'list',
      description: 'The MCP servers, whether they run, and where the own tools are offered',
      access,
      ephemeral: true,
      run(context) {
        const lines = report().map((one) => `• ${serverLine(one, clock.now())}`);
        const own = url();
        return context.reply(
          [
            lines.length === 0 ? 'No MCP server is configured.' : `**MCP servers** (${lines.length})`,
            ...lines,
            own === undefined ? 'The own tools are not offered over MCP.' : `The own tools are offered at <${own}>.`,
          ].join('\n'),
        );
      },
    }),
    subcommand({
      name: 'tools',
      description: 'The tools of MCP servers, by the name that they have here',
      access,
      ephemeral: true,
      options: { server: serverName().optional().describe('Only those of this server') },
      async run(context, { server }) {
        await context.defer();
        await servers?.settled();
        const wanted = report().filter(({ name }) => server === undefined || name === server);
        const lines = wanted.flatMap(({ name, tools, pending }) => [
          `**${name}** (${tools.size})`,
          ...[...tools].map(([host, { risk, description }]) => `• \`${host}\` (${risk}): ${firstLine(description)}`),
          ...pending.map(
            (tool) => `• not offered, changed or new: \`${inert(tool.name)}\`: ${firstLine(tool.description)}`,
          ),
        ]);
        return context.reply(lines.length === 0 ? 'There is no such server.' : lines.join('\n'));
      },
    }),
    subcommand({
      name: 'accept',
      description: 'Let in what an MCP server has changed or added',
      access,
      options: { server: serverName().describe('Its name in the configuration') },
      async run(context, { server }) {
        if (servers === undefined) throw new UserError('No MCP server is configured.');
        await context.defer();
        const { name, tools } = await servers.accept(server);
        return context.reply(`\`${name}\` offers ${tools.size} ${tools.size === 1 ? 'tool' : 'tools'} now.`);
      },
    }),
    subcommand({
      name: 'restart',
      description: 'Stop an MCP server, start it again, and read its tools anew',
      access,
      options: { server: serverName().describe('Its name in the configuration') },
      async run(context, { server }) {
        if (servers === undefined) throw new UserError('No MCP server is configured.');
        await context.defer();
        const { name, tools } = await servers.restart(server);
        return context.reply(`\`${name}\` is running, with ${tools.size} ${tools.size === 1 ? 'tool' : 'tools'}.`);
      },
    }),
  ];
}

function serverLine({ name, state, problem, retryAt, settings, tools }: ServerReport, now: number): string {
  const where = settings.url === undefined ? settings.command : new URL(settings.url).host;
  const again = retryAt === undefined ? '' : `, next try in ${Math.ceil((retryAt - now) / 1000)} s`;
  const why = problem === undefined ? '' : `: ${inert(problem)}`;
  const known = `${tools.size} ${tools.size === 1 ? 'tool' : 'tools'}, for ${settings.tier}`;
  return `\`${name}\` (${inert(where ?? '')}) ${state}${why}${again}; ${known}`;
}

const LONGEST_LINE = 120;

function firstLine(text: string): string {
  const [line = ''] = text.trim().split('\n');
  return inert(line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line);
}
