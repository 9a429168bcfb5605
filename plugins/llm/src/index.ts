import { Clock, definePlugin, Llm, Random, sentenceOf, subcommand } from '@cinnabar/sdk';
import { configure } from './configuration.js';
import { createProviders } from './providers/registry.js';
import { createLlm } from './service.js';
import { ENVIRONMENT, GLOBAL_SETTINGS } from './settings.js';
import { describeStatus } from './status.js';

export default definePlugin({
  manifest: {
    id: 'llm',
    version: '0.1.0',
    description: 'Connects language models: OpenAI, Anthropic, compatible servers, or an offline stand-in',
    host: '^0.1.0',
  },
  settings: { global: GLOBAL_SETTINGS },
  env: ENVIRONMENT,
  inject: { clock: Clock, random: Random },
  provides: [Llm],
  async setup({ provide, group, settings, env, services, log, signal }) {
    const { clock, random } = services;
    const providerFor = createProviders(clock, random);
    let current: Llm['current'] = { provider: 'offline', model: 'offline' };
    const setup = async () => {
      const values = await settings.global.get();
      const configuration = configure(values, env);
      current = { provider: configuration.source.provider, model: configuration.model };
      return { settings: values, configuration, provider: providerFor(configuration.source) };
    };

    // A wrong configuration must not keep the plugin from starting: the owner needs its settings to mend it.
    await setup().catch((error: unknown) => {
      const sentence = sentenceOf(error);
      if (sentence === undefined) throw error;
      current = { provider: 'none', model: 'not configured' };
      log.warn(sentence);
    });
    provide(Llm, createLlm({ setup, current: () => current, clock, log, signal }));

    group({
      name: 'llm',
      description: 'The language model behind the bot',
      access: { tier: 'botOwner' },
      commands: [
        subcommand({
          name: 'status',
          description: 'Which model answers, where it is, and whether a key is set',
          ephemeral: true,
          run: async (context) => context.reply(describeStatus(await settings.global.get(), env)),
        }),
      ],
    });
  },
});
