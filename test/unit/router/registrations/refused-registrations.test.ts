// What a connection is sent when its port refuses a registration.

import { expect, test } from 'vitest';
import { OWN_SDK, openRestricted } from '../../../support/engine/restricted-port.ts';

test('[wire 2.3] A client of `iii` is sent the only code after which it reconnects', async () => {
  const { browser } = await openRestricted();
  const mute = await browser({ allow_function_registration: false });
  mute.register('ui::show');
  expect(mute.receivedOne('registrationrejected')).toMatchObject({
    code: 'FUNCTION_NAMESPACE_CONFLICT',
    message: 'This connection may not register functions',
  });
});

test('[SDK-7] The SDK of the engine is sent which function and which trigger type were refused, and the code', async () => {
  const { browser } = await openRestricted();
  const page = await browser({ allow_function_registration: false }, OWN_SDK);
  page.register('ui::show');
  expect(page.receivedOne('registrationrejected')).toMatchObject({ code: 'FORBIDDEN', function_id: 'ui::show' });
  page.provideType('mine');
  expect(page.receivedOne('registrationrejected')).toMatchObject({ code: 'FORBIDDEN', trigger_type: 'mine' });
});
