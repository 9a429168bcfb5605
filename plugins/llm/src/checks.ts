import { type CheckResult, operatorSentenceOf, t } from '@cinnabar/sdk';
import type { Router } from './routes.js';
import type { Environment, GlobalSettings } from './settings.js';
import type { Vendor } from './vendors.js';

/** For `doctor`: whether each source of models is set up, can be reached and accepts its key. The lists of models cost nothing. */
export async function checkVendors(
  router: Router,
  settings: () => Promise<GlobalSettings>,
  env: Environment,
  signal: AbortSignal,
): Promise<readonly CheckResult[]> {
  try {
    const { vendors, model, vendorFor } = await router.routes(await settings(), env);
    const all = vendors.length === 0 ? [vendorFor(model)] : vendors;
    return Promise.all(all.map((vendor) => checkVendor(vendor, signal)));
  } catch (error) {
    const text = operatorSentenceOf(error);
    if (text === undefined) throw error;
    return [{ ok: false, text, remedy: t('Correct the setting or the variable that it names.') }];
  }
}

async function checkVendor({ name, definition, listing }: Vendor, signal: AbortSignal): Promise<CheckResult> {
  if (listing === undefined) return { ok: true, text: t('{name} needs no check', { name }) };
  const { host } = new URL(listing.url);
  const key = definition.variables.key ?? '';
  try {
    const { status } = await fetch(listing.url, { headers: listing.headers, redirect: 'manual', signal });
    if (status === 401 || status === 403)
      return {
        ok: false,
        text: t('{name} at {host} does not accept the key', { name, host }),
        remedy: t('Put a key that holds into {key}, or into the configuration of the vendor.', { key }),
      };
    if (status >= 500)
      return {
        ok: false,
        text: t('{name} at {host} answers with the error {status}', { name, host, status: String(status) }),
        remedy: t('Wait, or look at the status page of the provider.'),
      };
    // A compatible server need not have a list of models.
    return { ok: true, text: t('{name} at {host} answers, and accepts the key', { name, host }) };
  } catch (error) {
    return {
      ok: false,
      text: t('{name} at {host} cannot be reached ({reason})', { name, host, reason: reasonOf(error) }),
      remedy: t('Look at its address, and at the network of the machine.'),
    };
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
