// The nonce of this page's content policy (APP-3), for the few libraries that add a `<style>`.

import { setNonce } from 'get-nonce';

export const styleNonce = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? '';

/** The scroll lock of dialogs reads `get-nonce`. */
if (styleNonce !== '') setNonce(styleNonce);
