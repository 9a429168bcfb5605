import type { HostConfig } from '../config/host-config.js';
import { loadConfig } from '../config/load.js';
import { endWith, prepare, readArguments, type StartOptions, startOnDiscord } from './discord.js';

/** What `cinnabar help` prints: every command with its options. */
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

/**
 * Runs one command of the command line, then ends the process.
 * @param options of the commands that run a bot
 */
export async function runCommandLine(args: readonly string[], options: StartOptions = {}): Promise<void> {
  await endWith(() => main(args, options));
}

/** @returns the exit code */
async function main(args: readonly string[], options: StartOptions): Promise<number> {
  const given = readArguments(args);
  const { command, operands, bot } = given;
  switch (command) {
    case 'start':
      return (await startOnDiscord(args, options)) ?? openConsole(bot, options);
    case 'console':
      return openConsole(bot, options);
    case 'new':
      return (await import('./new.js')).runNew(operands, given, process);
    case 'dev':
      return (await import('./dev.js')).runDev(operands, given, process, options);
    case 'schema':
      return (await import('./schema.js')).printSchema(
        loadConfig(process.cwd(), process.env, bot),
        operands[0],
        process,
      );
    case 'reference':
      return (await import('./reference.js')).writeReference(
        loadConfig(process.cwd(), process.env, bot),
        operands[0],
        process,
      );
    case 'import':
      if (operands[0] === 'red')
        return (await import('./import/red/import-red.js')).runRedImport(
          operands.slice(1),
          given,
          configuration(bot),
          process,
        );
      return (await import('./import/import.js')).runImport(operands, given, process);
    case 'backup':
      return (await import('./backup.js')).runBackup(operands, given, () => configuration(bot), process);
    case 'restore':
      return (await import('./backup.js')).runRestore(operands, () => configuration(bot), process);
    case 'storage':
      return (await import('./storage.js')).runStorage(operands, given, configuration(bot), process);
    case 'cluster':
      return (await import('./cluster-status.js')).runCluster(operands, configuration(bot), process);
    case 'plan':
    case 'apply':
    case 'export':
    case 'undo':
      return (await import('./guild-file.js')).runGuildFile(command, operands, configuration(bot), process);
    case 'plugin':
      return (await import('./plugin.js')).runPlugin(operands, given, configuration(bot), process);
    case 'check':
      return (await import('./check.js')).runCheck(operands, given, process);
    case 'pack':
      return (await import('./pack.js')).runPack(operands, given, process);
    case 'eval':
      return (await import('./eval.js')).runEval(operands, given, process);
    case 'doctor':
      return (await import('./doctor.js')).runDoctor(given, process);
    case 'version':
      process.stdout.write(`${(await import('../version.js')).HOST_VERSION}\n`);
      return 0;
    case 'help':
      process.stdout.write(HELP);
      return 0;
    default:
      process.stderr.write(`There is no command "${command}".\n\n${HELP}`);
      return 1;
  }
}

async function openConsole(bot: string | undefined, options: StartOptions): Promise<number> {
  const { runConsole } = await import('./console/run.js');
  return runConsole(configuration(bot), process, options);
}

function configuration(bot: string | undefined): HostConfig {
  const config = loadConfig(process.cwd(), process.env, bot);
  prepare(config);
  return config;
}
