import { createTestHost } from '@cinnabar/core/testing';
import { definePlugin, Tools, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { cinnabar } from '../support/cinnabar.js';
import { makeFolder } from '../support/folder.js';

const FOREIGN = `
import { definePlugin, Tools, z } from '@cinnabar/sdk';
export default definePlugin({
  manifest: { id: 'foreign', version: '1.0.0', description: 'From elsewhere', intents: ['GuildMessages', 'MessageContent'], hosts: ['api.example.org'] },
  env: z.looseObject({ FOREIGN_MODE: z.string().optional() }),
  inject: { tools: Tools },
  setup({ command, env, services: { tools }, tool }) {
    tool({ name: 'foreign_read', description: 'Reads', risk: 'read', input: z.object({}), run: () => 'read' });
    command({ name: 'env', description: 'Tells', run: (ctx) => ctx.reply(JSON.stringify(env)) });
    command({ name: 'mine', description: 'Calls', async run(ctx) {
      const outcome = await tools.invoke({ name: 'who', arguments: {}, actor: ctx.actor, origin: 'chat' });
      await ctx.reply(JSON.stringify(outcome));
    } });
    command({ name: 'theirs', description: 'Calls', options: { id: z.string() }, async run(ctx, { id }) {
      const outcome = await tools.invoke({ name: 'who', arguments: {}, actor: { ...ctx.actor, userId: id }, origin: 'chat' });
      await ctx.reply(JSON.stringify(outcome));
    } });
  },
});
`;

describe('security: plugins from elsewhere', () => {
  it('get the variables that they declare, call tools for whom they serve and under their own name, and are shown for what they are', async () => {
    using folder = makeFolder({ 'index.ts': FOREIGN });
    const settled: { readonly origin: string; readonly status: string }[] = [];
    const who = definePlugin({
      manifest: { id: 'who', version: '1.0.0', description: 'Has a tool' },
      inject: { tools: Tools },
      setup({ tool, defer, services: { tools } }) {
        tool({ name: 'who', description: 'Says hello', risk: 'read', input: z.object({}), run: () => 'hello' });
        defer(tools.onSettled(({ origin, outcome }) => void settled.push({ origin, status: outcome.status })));
      },
    });
    await using host = await createTestHost({
      plugins: ['admin', who, folder.path],
      env: { FOREIGN_MODE: 'on', OPENAI_API_KEY: 'sk-0123456789abcdef', DISCORD_TOKEN: 'the-token' },
    });
    const ask = async (text: string, user = host.alice) => {
      user.say(host.general, text);
      await host.settled();
      return host.general.messages.at(-1)?.content ?? '';
    };
    expect(await ask('!env')).to.equal('{"FOREIGN_MODE":"on"}');
    expect(await ask('!mine')).to.include('hello');
    expect(settled).to.deep.equal([{ origin: 'foreign', status: 'done' }]);
    expect(await ask(`!theirs ${host.you.id}`)).to.include('was not given anything to do for this member');
    expect(settled).to.have.length(1);
    const info = await ask('!plugin info foreign', host.you);
    expect(info)
      .to.include('runs in its process')
      .and.include('FOREIGN\\_MODE'.replace('\\', ''))
      .and.include('api.example.org')
      .and.include('`foreign_read` (read)')
      .and.include('GuildMessages');
    expect(await ask('!plugin info who', host.you)).not.to.include('api.example.org');
  });

  it('find no token and no key in the environment of the process', async () => {
    using folder = makeFolder();
    const env: NodeJS.ProcessEnv = {
      DISCORD_TOKEN: 'a',
      OPENAI_API_KEY: 'b',
      ANTHROPIC_API_KEY: 'c',
      LETTA_PASSWORD: 'd',
      PATH: '/bin',
      HOME: '/',
      MAX_TOKENS: '5',
    };
    // `start` does the same before it loads plugins.
    expect(await cinnabar(['storage', 'check'], { cwd: folder.path, env })).to.include({ code: 0 });
    const { BUILD_CACHE_PATH: _, ...left } = env;
    expect(left).to.deep.equal({ PATH: '/bin', HOME: '/', MAX_TOKENS: '5' });
  });
});
