;;; emacs_recipe.el --- tests the recipe in docs/guides/emacs.md  -*- lexical-binding: t; -*-

(require 'tackroom)
(require 'cl-lib)

(defun await (what done)
  "Wait until DONE says so; WHAT is what for."
  (with-timeout (60 (error "Nothing came: %s" what))
    (while (not (funcall done))
      (accept-process-output nil 0.05))))

(let ((byte-compile-error-on-warn t))
  (cl-assert (byte-compile-file (locate-library "tackroom.el"))))

(setq tackroom-command (list (getenv "TACKROOM_BIN") "serve"))
(tackroom)
(cl-assert (derived-mode-p 'tackroom-mode))
(await "the session" (lambda () (assoc (getenv "FOREIGN_SESSION") tabulated-list-entries)))
(cl-assert (not (assoc (getenv "FOREIGN_NEW") tabulated-list-entries)))
(copy-file (getenv "FOREIGN_NEW_FROM") (getenv "FOREIGN_NEW_TO"))
(await "the new session" (lambda () (assoc (getenv "FOREIGN_NEW") tabulated-list-entries)))

(goto-char (point-min))
(while (not (equal (tabulated-list-get-id) (getenv "FOREIGN_SESSION")))
  (cl-assert (zerop (forward-line))))
(cl-assert (looking-at "persisted +claude-code +20"))
(tackroom-copy-resume)
(cl-assert (string-match-p "\\`cd /[^ ]+ && claude --resume [^ \n]+\\'" (current-kill 0)))
(tackroom-show)
(cl-assert (equal (buffer-name) "*tackroom session*"))
(cl-assert (progn (goto-char (point-min)) (looking-at "user\n")))

(delete-file (getenv "FOREIGN_NEW_TO"))
(set-buffer "*tackroom*")
(await "its end" (lambda () (not (assoc (getenv "FOREIGN_NEW") tabulated-list-entries))))

(let ((process (jsonrpc--process tackroom--server)))
  (kill-buffer)
  (await "the server's end" (lambda () (not (process-live-p process))))
  (cl-assert (and (eq (process-status process) 'exit) (zerop (process-exit-status process)))))
;;; emacs_recipe.el ends here
