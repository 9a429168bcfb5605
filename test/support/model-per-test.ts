import { fail, type ModelScript, type ModelStep, type ScriptedLlm, scriptedLlm } from '@cinnabar/local-models';

/** The model of a host that several tests share. */
export interface ModelPerTest {
  /** For the host's plugins. */
  readonly plugin: ScriptedLlm;
  /** From now on, the model follows this script. @returns the model as this test sees it: with the requests since then */
  next(steps: readonly ModelStep[] | ModelScript): ScriptedLlm;
}

export function createModelPerTest(): ModelPerTest {
  let script: ModelScript = () => fail(400);
  const plugin = scriptedLlm((prompt) => script(prompt));
  return {
    plugin,
    next(steps) {
      const queue = typeof steps === 'function' ? [] : [...steps];
      const otherwise = typeof steps === 'function' ? steps : () => fail(400, { message: NO_STEP });
      script = (prompt) => queue.shift() ?? otherwise(prompt);
      const [asked, embedded] = [plugin.requests.length, plugin.embedded.length];
      return {
        ...plugin,
        get requests() {
          return plugin.requests.slice(asked);
        },
        get embedded() {
          return plugin.embedded.slice(embedded);
        },
        push: (...more) => void queue.push(...more),
      };
    },
  };
}

const NO_STEP = 'the scripted model has no step left';
