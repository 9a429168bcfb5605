import { operatorSentenceOf } from '@cinnabar/sdk';
import type { HostConfig } from '../config/host-config.js';
import { loadConfig } from '../config/load.js';
import { type Arguments, endWith, prepare, readArguments, type StartOptions, startOnDiscord } from './discord.js';
import { harmless } from './harmless.js';

/** The output of `cinnabar help`: every command with its options. */
export const HELP = `Cinnabar, a Discord bot host.

  cinnabar start [--bot NAME]      logs in with DISCORD_TOKEN; without it, opens a local Discord to talk to
  cinnabar start --cluster         the same as one of several processes, on any number of machines, that share the database
                                   DATABASE_URL and divide the servers among themselves
  cinnabar cluster status          prints which process serves which groups of servers; exits with 1 when one is served by nobody
  cinnabar cluster drain NAME      has that process give its groups to the others
  cinnabar console [--bot NAME]    opens the local Discord, token or not
  cinnabar new NAME [--no-install]
                                   writes a plugin's project into a folder of that name, with a test
  cinnabar new NAME --project [--no-install]
                                   writes a bot's project, with a folder for plugins of its own
  cinnabar dev [FOLDER] [--with FOLDER …]
                                   runs a plugin, or a bot with its plugins, on the local Discord, and reloads what is saved
  cinnabar schema [FILE]           prints the JSON Schema of the configuration files, for editors, or writes it to FILE
  cinnabar reference DIR           writes the commands, settings, tools and variables of all plugins into DIR, as Markdown
  cinnabar import chapter2|chapter3 DIR [--dry-run] [--overwrite] [--bot-id ID]
                                   takes over the bots and tool calls of those programs
  cinnabar import red DIR [--dry-run]
                                   takes over the servers of a Red-DiscordBot from its data folder; the bot is stopped
  cinnabar backup FILE [--with-secrets]
                                   backs up the data of a bot that is stopped into FILE (.tar.gz)
  cinnabar backup --verify FILE    reads a backup and checks all of it
  cinnabar restore FILE            puts a backup in the place of the data; what was there is kept beside it
  cinnabar storage copy --from files --to postgres
                                   copies documents and journals into the database that is configured, or back (--from postgres --to
                                   files), and compares; the bot is stopped. Run it again to finish one that was cut off
  cinnabar storage check           reads all documents and journals, counts them, and names those that cannot be read
  cinnabar plan FILE               prints what a file of a server (server.yaml) would change; the bot is stopped
  cinnabar apply FILE              the same, and applies it: all or nothing
  cinnabar export GUILD            prints the file of a server as it is now
  cinnabar undo GUILD              takes back the file that was applied last
  cinnabar plugin add SPEC         installs a plugin, once you have seen what it declares: an npm package, a tarball, a git
                                   repository, a folder, or an id of a registry file; the bot is stopped (else: !plugin install)
  cinnabar plugin update [ID] | remove ID [--with-data] | pin ID | unpin ID | list [--verify] | updates | search [WORDS]
                                   looks after them; --yes agrees to what is asked, --json prints what programs read
  cinnabar check [FOLDER] [--with FOLDER …] [--quick] [--json]
                                   looks for mistakes in a plugin's project; exits with 1 when it finds one. --quick does not look for leaks,
                                   --with names other plugins whose services it injects
  cinnabar pack [FOLDER] [--with FOLDER …] [--quick] [--json]
                                   checks a plugin's project, makes the file that others install, and says how
  cinnabar eval [FOLDER] [--model ROUTE …] [--plugin ID …] [--tool NAME …] [--distractors N] [--seed N]
                [--max-cost USD] [--at-least PERCENT] [--json]
                                   asks a model what people say to the tools, those of a plugin's project or of all plugins of the
                                   bot, and shows how often it calls the right one; no tool is run. It costs what the model costs
  cinnabar doctor [--json]         checks token, intents, permissions, keys, servers, data and clock, also while the bot runs;
                                   exits with 1 when something is not as it should be
  cinnabar version                 prints the version

--bot chooses config/bots/NAME.yaml and data of its own; the variable BOT_NAME does the same.
Configuration: config/, .env and the environment. See README.md.
`;

/** The environment of a command: its streams, the working directory, and the environment variables, from which it takes the secrets. */
export interface Terminal extends Pick<NodeJS.Process, 'cwd' | 'env'> {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
}

/**
 * Runs one command of the command line, then ends the process.
 * @param options of the commands that run a bot
 */
export async function runCommandLine(args: readonly string[], options: StartOptions = {}): Promise<void> {
  await endWith(() =>
    carryOut(process, async () => {
      const given = readArguments(args);
      switch (given.command) {
        case 'start':
          return (await startOnDiscord(args, options)) ?? openConsole(given.bot, options);
        case 'console':
          return openConsole(given.bot, options);
        case 'dev':
          return (await import('./dev.js')).runDev(given.operands, given, process, options);
        default:
          return run(given, process);
      }
    }),
  );
}

/**
 * Runs a command that runs no bot, in this process.
 * @returns the exit code
 */
export function runCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  return carryOut(terminal, async () => run(readArguments(args), terminal));
}

async function run(given: Arguments, terminal: Terminal): Promise<number> {
  const { command, operands, bot } = given;
  const configuration = () => configurationIn(terminal, bot);
  switch (command) {
    case 'new':
      return (await import('./new.js')).runNew(operands, given, terminal);
    case 'schema':
      return (await import('./schema.js')).printSchema(
        loadConfig(terminal.cwd(), terminal.env, bot),
        operands[0],
        terminal,
      );
    case 'reference':
      return (await import('./reference.js')).writeReference(
        loadConfig(terminal.cwd(), terminal.env, bot),
        operands[0],
        terminal,
      );
    case 'import':
      if (operands[0] === 'red')
        return (await import('./import/red/import-red.js')).runRedImport(
          operands.slice(1),
          given,
          configuration(),
          terminal,
        );
      return (await import('./import/import.js')).runImport(operands, given, terminal);
    case 'backup':
      return (await import('./backup.js')).runBackup(operands, given, configuration, terminal);
    case 'restore':
      return (await import('./backup.js')).runRestore(operands, configuration, terminal);
    case 'storage':
      return (await import('./storage.js')).runStorage(operands, given, configuration(), terminal);
    case 'cluster':
      return (await import('./cluster-status.js')).runCluster(operands, configuration(), terminal);
    case 'plan':
    case 'apply':
    case 'export':
    case 'undo':
      return (await import('./guild-file.js')).runGuildFile(command, operands, configuration(), terminal);
    case 'plugin':
      return (await import('./plugin.js')).runPlugin(operands, given, configuration(), terminal);
    case 'check':
      return (await import('./check.js')).runCheck(operands, given, terminal);
    case 'pack':
      return (await import('./pack.js')).runPack(operands, given, terminal);
    case 'eval':
      return (await import('./eval.js')).runEval(operands, given, terminal);
    case 'doctor':
      return (await import('./doctor.js')).runDoctor(given, terminal);
    case 'version':
      terminal.stdout.write(`${(await import('../version.js')).HOST_VERSION}\n`);
      return 0;
    case 'help':
      terminal.stdout.write(HELP);
      return 0;
    default:
      terminal.stderr.write(`There is no command "${command}".\n\n${HELP}`);
      return 1;
  }
}

/** Prints why a command could not be carried out. */
async function carryOut({ stderr }: Pick<Terminal, 'stderr'>, command: () => Promise<number>): Promise<number> {
  try {
    return await command();
  } catch (error) {
    // An error that a person can fix is printed as one sentence; any other is a defect, and its stack helps to find it.
    const sentence = operatorSentenceOf(error) ?? (error instanceof Error ? error.stack : String(error));
    stderr.write(`cinnabar: ${harmless(sentence ?? '')}\n`);
    return 1;
  }
}

async function openConsole(bot: string | undefined, options: StartOptions): Promise<number> {
  const { runConsole } = await import('./console/run.js');
  return runConsole(configurationIn(process, bot), process, options);
}

function configurationIn({ cwd, env }: Terminal, bot: string | undefined): HostConfig {
  const config = loadConfig(cwd(), env, bot);
  prepare(config, env);
  return config;
}
