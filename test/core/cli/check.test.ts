import { fileURLToPath } from 'node:url';
import { type CheckReport, checkPlugin } from '@cinnabar/core/internal/plugins/check/check';
import { lineOf } from '@cinnabar/core/internal/plugins/check/findings';
import { expect } from 'chai';
import { makeFolder } from '../../support/folder.js';
import { pluginFiles } from '../../support/plugin-package.js';

type Plugin = Parameters<typeof pluginFiles>[0];

const COMPLETE = { files: ['src', 'locales', 'README.md'] };

async function check(plugin: Plugin, reloads = 0, beside: readonly string[] = []): Promise<CheckReport> {
  using folder = makeFolder(pluginFiles({ packageFile: COMPLETE, ...plugin }));
  return await checkPlugin(folder.path, { reloads, env: {}, beside, onStep: () => undefined });
}

const errorsOf = ({ findings }: CheckReport) => findings.filter(({ level }) => level === 'error').map(lineOf);

/** A collection whose documents contain a channel. */
const QUEUE = 'z.object({ queue: z.array(z.object({ channelId: z.string() })).default([])';

describe('cinnabar check', () => {
  it('passes an example, with its types looked at', async () => {
    const folder = fileURLToPath(new URL('../../../../examples/dice', import.meta.url));
    const report = await checkPlugin(folder, { reloads: 3, env: {}, onStep: () => undefined });
    expect(report.findings.map(lineOf)).to.deep.equal([]);
    expect(report.id).to.equal('dice');
  });

  describe('for a plugin that starts', () => {
    // One trial run for all tests, because each starts a whole bot in a separate process.
    let report: CheckReport;
    before(async () => {
      report = await check(
        {
          id: 'leaky',
          definition: `settings: { guild: z.object({ logChannel: z.string().optional().describe('Where') }) },
      collections: {
        lost: { scope: 'global', version: 1, schema: ${QUEUE} }) },
        ofServer: { scope: 'global', version: 1, schema: ${QUEUE}, guildId: z.string().nullable().default(null) }) },
        ofActor: { scope: 'user', version: 1, schema: ${QUEUE}, actor: z.object({ guildId: z.string() }).optional() }) },
        byServer: { scope: 'guild', version: 1, schema: ${QUEUE} }) },
        ofAll: { scope: 'global', version: 1, shared: true, schema: ${QUEUE} }) },
        ofOne: { scope: 'global', version: 1, shared: false, schema: ${QUEUE} }) },
      },`,
          manifest: "intents: ['GuildMessages'],",
          setup: `
    const held = [context];
    Object.assign(globalThis, { leaked: [...(globalThis.leaked ?? []), () => held] });
    setInterval(() => held.length, 1000);
    process.on('exit', () => held.length);
    context.on('guildMemberAdd', () => held.length);
    context.on('messageCreate', (message) => void context.log.info(message.content));`,
        },
        4,
      );
    });
    const expectLine = (lines: readonly string[], text: RegExp) =>
      expect(
        lines.some((line) => text.test(line)),
        `${text}\n${lines.join('\n')}`,
      ).to.equal(true);

    it('refuses a leak, a timer of Node, a listener of its own, and a missing intent', () => {
      const errors = errorsOf(report);
      expectLine(
        errors,
        /it leaks: after 4 reloads, 4 old versions of it are still in memory.*take back in `defer\(…\)`/,
      );
      expectLine(
        errors,
        /^src\/index\.ts:\d+: error: setInterval goes on when the plugin is stopped: use `every\(ms, task\)`/,
      );
      expectLine(errors, /process\.on\('exit'\) goes on when the plugin is stopped/);
      expectLine(
        errors,
        /^src\/index\.ts:\d+: error: it listens to guildMemberAdd.*its manifest needs intents: \['GuildMessages', 'GuildMembers'\]/,
      );
    });

    it('warns about an id that is a text, and about messages whose text Discord leaves out', () => {
      const lines = report.findings.map(lineOf);
      expectLine(lines, /src\/index\.ts:\d+: warning: the guild setting "logChannel" is a text: .*kind: 'channel'/);
      expectLine(lines, /src\/index\.ts:\d+: warning: it reads what messages say at messageCreate: .*'MessageContent'/);
    });

    it('warns about documents that name a channel and do not say whose server it is in', () => {
      const lines = report.findings.filter(({ rule }) => rule === 'guild').map(lineOf);
      expect(lines).to.have.length(1);
      expect(lines[0]).to.match(
        /^src\/index\.ts:\d+: warning: the documents of the collection "lost" have "queue\[\]\.channelId", and no guildId at the top: .* \[guild\]$/,
      );
    });
  });

  it('refuses a default that its own bounds refuse, with both', async () => {
    const report = await check({
      id: 'bounds',
      definition: "settings: { guild: z.object({ sides: z.int().max(20).default(50).describe('Sides') }) },",
    });
    expect(errorsOf(report)[0]).to.match(
      /its guild setting "sides" has the default 50, which it refuses itself \(Too big: expected number to be <=20\): change the default or the bound/,
    );
  });

  it('says which package is missing, and where to install it', async () => {
    const errors = errorsOf(await check({ id: 'poor', imports: "import * as left from 'left-pad-x';\nvoid left;" }));
    expect(errors[0]).to.match(
      /^src\/index\.ts:2: error: it imports "left-pad-x", which is not in package\.json: run "npm install left-pad-x" in /,
    );
    expect(errors[1]).to.match(
      /The plugin "poor" imports "left-pad-x", which is not installed: run "npm install left-pad-x" in /,
    );
  });

  it('refuses ids of users in a collection that does not say whose it is', async () => {
    const report = await check({
      id: 'nosy',
      definition:
        "collections: { seen: { scope: 'guild', version: 1, schema: z.object({ userId: z.string().default('') }) } },",
    });
    expect(errorsOf(report)[0]).to.match(
      /its collection "seen" keeps the ids of users in "userId".*`personal: \{ by: 'userId' \}`/,
    );
  });

  it('refuses a package that cannot be installed, and says what to write', async () => {
    const report = await check({
      id: 'odd',
      name: 'cinnabar-plugin-other',
      packageFile: {
        keywords: [],
        license: undefined,
        peerDependencies: {},
        scripts: { postinstall: 'node x.js' },
        files: ['lib'],
      },
    });
    const errors = errorsOf(report).join('\n');
    for (const rule of ['keyword', 'licence', 'sdk', 'install-script', 'files', 'id'])
      expect(errors).to.include(`[${rule}]`);
  });

  it('tries one that injects the service of another beside that one', async () => {
    const points = fileURLToPath(new URL('../../../../examples/points', import.meta.url));
    const shop: Plugin = {
      id: 'kiosk',
      imports: "import { defineToken } from '@cinnabar/sdk';\nconst Points = defineToken('example.points');",
      definition: 'inject: { points: Points },',
      setup: "if (typeof context.services.points.take !== 'function') throw new Error('no points');",
    };
    const alone = (await check(shop)).findings.map(lineOf).join('\n');
    expect(alone).to.match(/it was not tried, since it waits: .*name its folder: --with FOLDER/);
    const together = (await check(shop, 0, [points])).findings.map(({ rule }) => rule);
    expect(together).to.deep.equal(['types']);
  });

  it('reports a folder without a plugin', async () => {
    using folder = makeFolder({ 'a.txt': '' });
    const report = await checkPlugin(folder.path, { reloads: 0, env: {}, onStep: () => undefined });
    expect(report.findings.map(lineOf).join()).to.match(
      /there is no package\.json in .*: run this in the folder of a plugin/,
    );
  });
});
