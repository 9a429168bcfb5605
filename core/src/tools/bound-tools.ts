import type { Tools } from '@cinnabar/sdk';
import type { Owner } from '../contracts.js';
import { denied } from './outcomes.js';

/**
 * The tools as one plugin has them: its calls carry its own name, and one that does not come with the host calls them only for people whose
 * turns, commands, clicks or calls it was given.
 */
export function boundTools(owner: Owner, tools: Tools): Tools {
  return {
    list: () => tools.list(),
    offered: (actor) => tools.offered(actor),
    available: (actor) => tools.available(actor),
    onSettled: (listener) => tools.onSettled(listener),
    async invoke(request) {
      if (owner.entrusted?.has(request.actor) === false) {
        return denied('', request.name, `the plugin "${owner.id}" was not given anything to do for this member here`);
      }
      return tools.invoke({ ...request, origin: owner.id });
    },
  };
}
