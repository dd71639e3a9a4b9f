;;; emacs.el --- jsonrpc.el, with which Emacs speaks to language servers  -*- lexical-binding: t; -*-

;; `Content-Length' headers.

(require 'jsonrpc)
(require 'cl-lib)

(defvar told nil "What was told: the ids of entries, and kinds.")

(defun await (what done)
  "Wait until DONE says so; WHAT is what for."
  (with-timeout (60 (error "Nothing came: %s" what))
    (while (not (funcall done))
      (accept-process-output nil 0.05))))

(defun listen (_server method params)
  "Keep what PARAMS of METHOD tell."
  (cl-assert (eq method 'registry/event))
  (let ((event (plist-get params :event)))
    (push (or (plist-get (plist-get event :entry) :id) (plist-get event :kind)) told)))

(let* ((process (make-process :name "tackroom" :command (list (getenv "TACKROOM_BIN") "serve")
                              :connection-type 'pipe :coding 'utf-8-emacs-unix :noquery t
                              :stderr (get-buffer-create "*tackroom stderr*")))
       (server (make-instance 'jsonrpc-process-connection
                              :name "tackroom" :process process :notification-dispatcher #'listen))
       (opened (jsonrpc-request server :initialize `(:clientInfo (:name "emacs") :processId ,(emacs-pid))))
       refused)
  (cl-assert (equal (plist-get (plist-get opened :serverInfo) :name) "tackroom"))
  (jsonrpc-notify server :initialized nil)

  (let ((page (jsonrpc-request server :registry/list '(:limit 100))))
    (cl-assert (cl-find (getenv "FOREIGN_SESSION") (plist-get page :entries)
                        :key (lambda (entry) (plist-get entry :id)) :test #'equal)))
  (let ((missing (condition-case failed (jsonrpc-request server :registry/describe '(:id "no:such"))
                   (jsonrpc-error (cddr failed)))))
    (cl-assert (= (alist-get 'jsonrpc-error-code missing) -32001))
    (cl-assert (equal (plist-get (alist-get 'jsonrpc-error-data missing) :reason) "not_found")))

  (jsonrpc-request server :registry/watch nil)
  (await "synced" (lambda () (member "synced" told)))
  (copy-file (getenv "FOREIGN_NEW_FROM") (getenv "FOREIGN_NEW_TO"))
  (await "the new session" (lambda () (member (getenv "FOREIGN_NEW") told)))

  (jsonrpc-async-request server :runtime/attach '(:runtimeId "silent")
                         :success-fn (lambda (_) (setq refused '(:code 0)))
                         :error-fn (lambda (failed) (setq refused failed)))
  ;; It numbers its requests in their order, and names that of none.
  (jsonrpc-notify server :$/cancelRequest (list :id (jsonrpc--next-request-id server)))
  (await "the end of what was cancelled" (lambda () refused))
  (cl-assert (= (plist-get refused :code) -32800))

  (cl-assert (null (jsonrpc-request server :shutdown nil)))
  (jsonrpc-notify server :exit nil)
  (await "its end" (lambda () (not (process-live-p process))))
  (cl-assert (and (eq (process-status process) 'exit) (zerop (process-exit-status process)))))
;;; emacs.el ends here
