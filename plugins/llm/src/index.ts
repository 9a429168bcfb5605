import {
  type CinnabarError,
  Clock,
  Configuration,
  definePlugin,
  Llm,
  OwnerNotices,
  operatorSentenceOf,
  Random,
  subcommand,
} from '@cinnabar/sdk';
import type { Setup } from './candidate.js';
import { createMetering } from './metering.js';
import { createProviders } from './providers/registry.js';
import { createBreakers } from './resilience/breakers.js';
import { createLlm } from './service.js';
import { ENVIRONMENT, GLOBAL_SETTINGS } from './settings.js';
import { describeStatus } from './status.js';
import { FILE_KEYS, withVendorsOfFiles } from './vendors/files.js';
import { createRouter } from './vendors/routes.js';

/** How long `current` may lag behind a changed setting. */
const REFRESH_MS = 1_000;

export default definePlugin({
  manifest: {
    id: 'llm',
    version: '0.1.0',
    description:
      'Connects language models: OpenAI, Anthropic, Google, Bedrock, compatible servers, or an offline stand-in',
    host: '^0.1.0',
    administrative: true,
  },
  settings: { global: GLOBAL_SETTINGS },
  configuration: FILE_KEYS,
  env: ENVIRONMENT,
  inject: { clock: Clock, configuration: Configuration, notices: OwnerNotices, random: Random },
  provides: [Llm],
  async setup({ provide, group, every, settings, env, services, metrics, log, signal }) {
    const { clock, notices, random } = services;
    const providerFor = createProviders(clock, random);
    const router = createRouter();
    const breakers = createBreakers(clock, log, (vendor, model) =>
      notices.alert({
        kind: 'model-resting',
        text: `The model ${model} of ${vendor} failed five times in a row and was left alone for half a minute.`,
        remedy:
          '`!llm status` shows whether it answers now; if not, look at its address and key, or choose another model.',
      }),
    );
    // Members read a plain sentence; address, variable and the provider's words are the owner's.
    const tellOwner = (error: CinnabarError) => {
      if (error.code !== 'CINNABAR_LLM_REFUSED' && error.code !== 'CINNABAR_LLM_NOT_CONFIGURED') return;
      notices.alert({
        kind: 'model-refused',
        text: error.message,
        remedy: '`!llm status` shows the address, whether a key is set, and whether the model answers.',
      });
    };
    const metering = createMetering(metrics, breakers, clock);
    let current: Llm['current'] = { provider: 'offline', model: 'offline' };

    const readValues = async () => withVendorsOfFiles(await settings.global.get(), services.configuration);
    const setup = async (): Promise<Setup> => {
      const values = await readValues();
      const routes = await router.routes(values, env);
      current = { provider: routes.vendorFor(routes.model).source.provider, model: routes.model };
      return { settings: values, routes, providerFor };
    };
    const refresh = async (): Promise<string | undefined> => {
      try {
        await setup();
        return undefined;
      } catch (error) {
        const sentence = operatorSentenceOf(error);
        if (sentence === undefined) throw error;
        current = { provider: 'none', model: 'not configured' };
        return sentence;
      }
    };

    // A wrong configuration must not keep the plugin from starting: the owner needs its settings to mend it.
    const problem = await refresh();
    if (problem !== undefined) log.warn(problem);
    // Nothing tells of a changed setting, and status lines read `current` without waiting.
    every(REFRESH_MS, refresh);
    provide(
      Llm,
      createLlm({
        setup,
        current: () => current,
        breakers,
        metering,
        clock,
        random,
        log,
        signal,
        onFailure: tellOwner,
      }),
    );

    group({
      name: 'llm',
      description: 'The language model behind the bot',
      access: { tier: 'botOwner' },
      commands: [
        subcommand({
          name: 'status',
          description: 'Which models answer, where they are, whether keys are set, and whether they can be reached',
          ephemeral: true,
          run: async (context) => context.reply(await describeStatus(router, breakers, await readValues(), env)),
        }),
      ],
    });
  },
});
